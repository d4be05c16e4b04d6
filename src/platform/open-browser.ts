// Hands an URL to the browser of this desktop. Asked for only; that it cannot is no failure, the URL is on the screen anyway.
import { spawn } from 'node:child_process';

const openers: Readonly<Partial<Record<NodeJS.Platform, string>>> = { darwin: 'open', linux: 'xdg-open' };

/** `url`: http or https, nothing else is ever opened. */
export function openBrowser(url: string): void {
  const opener = openers[process.platform];
  if (opener === undefined || !/^https?:\/\//.test(url)) return;
  const child = spawn(opener, [url], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}
