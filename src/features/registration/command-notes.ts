// What a person should know of a command before it runs here: launchers that fetch what they run, and interpreters that run whatever
// their arguments say. Sentences only; a person decides.
import { fetchedPackage } from '../../lib/fetched-package.ts';

const interpreters =
  /^(?:(?:ba|z|da|k|fi)?sh|python[\d.]*|node|deno|bun|perl|ruby|php|pwsh|powershell|osascript|env|sudo|xargs|ssh)$/;

export function commandNotes(command: string, args: readonly string[]): string[] {
  const program = command.split('/').at(-1) ?? command;
  const notes = [`It runs as your user, with your files and your network: ${[command, ...args].map(quoted).join(' ')}`];
  if (interpreters.test(program)) notes.push(`WARNING: ${program} runs whatever its arguments say, not one known program.`);
  const fetched = fetchedPackage(program, args);
  if (fetched !== undefined && fetched.version === undefined)
    notes.push(`WARNING: ${program} fetches ${fetched.name} in whatever version there is at each start; nothing pins it.`);
  if (fetched?.version !== undefined) notes.push(`${program} fetches ${fetched.name} in version ${fetched.version}.`);
  return notes;
}

function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
