// The fake providers are programs of their own as well: for a demo, or to try an entry by hand.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const needs: readonly [program: string, facts: readonly string[]][] = [
  ['github-app', ['appId', 'installationId', 'privateKey']],
  ['aws-sts', ['region', 'roleArn', 'keys']],
  ['google-token', ['tokenUrl', 'keyFile']],
  ['huly', ['accountsUrl', 'workspace', 'login']],
  ['jwks-api', ['audience', 'privateKey']],
];

test.each(needs)('[MINT-12] %s runs by itself on loopback, and says what it is to be used with', async (program, facts) => {
  const path = fileURLToPath(new URL(`fixtures/providers/${program}.ts`, import.meta.url));
  const child = spawn(process.execPath, [path], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const said = JSON.parse(line.toString()) as Record<string, unknown>;
    expect(said['url']).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(Object.keys(said)).toEqual(expect.arrayContaining([...facts]));
    expect((await fetch(String(said['url']))).status).toBeGreaterThanOrEqual(400);
    child.kill('SIGTERM');
    expect((await once(child, 'exit'))[0]).toBe(0);
  } finally {
    child.kill('SIGKILL');
  }
});
