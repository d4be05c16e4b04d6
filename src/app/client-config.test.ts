// What is printed for pasting must be what the clients read.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clientConfig, launchOf } from './client-config.ts';

const url = 'http://127.0.0.1:7077/mcp';
const launch = { command: 'sallyport', args: ['mcp'] };

/** The JSON blocks in the text, in order. */
function blocks(text: string): unknown[] {
  return [...text.matchAll(/^ {2}\{\n[^]*?^ {2}\}/gm)].map(([block]) => JSON.parse(block) as unknown);
}

test('every JSON block parses and carries door and token', () => {
  expect(blocks(clientConfig(url, 'T0', launch))).toEqual([
    { mcpServers: { sallyport: { url, headers: { Authorization: 'Bearer T0' } } } },
    { servers: { sallyport: { type: 'http', url, headers: { Authorization: 'Bearer T0' } } } },
    { mcpServers: { sallyport: { command: 'sallyport', args: ['mcp'], env: { SALLYPORT_TOKEN: 'T0' } } } },
  ]);
});

test('the command and TOML forms carry door and token too', () => {
  const text = clientConfig(url, 'T0', launch);
  expect(text).toContain(`claude mcp add --transport http sallyport ${url} --header "Authorization: Bearer T0"`);
  expect(text).toContain('  command = "sallyport"\n  args = ["mcp"]\n  env = { SALLYPORT_TOKEN = "T0" }');
});

test('a token that was shown already is named as such', () => {
  const text = clientConfig(url, undefined, launch);
  expect(text).toContain('Bearer TOKEN');
  expect(text).toContain('sallyport agent add NAME');
});

test('the program is named where a client finds it, else given by its path', () => {
  const folder = mkdtempSync(join(tmpdir(), 'path-'));
  const own = join(folder, 'node_modules', '.bin');
  mkdirSync(own, { recursive: true });
  for (const place of [folder, own]) {
    writeFileSync(join(place, 'sallyport'), '');
    chmodSync(join(place, 'sallyport'), 0o755);
  }
  expect(launchOf(`/nowhere:${folder}`)).toEqual(launch);
  for (const path of [own, '', undefined]) {
    const { command, args } = launchOf(path);
    expect([command, args.length, existsSync(args[0] ?? '')]).toEqual(['node', 2, true]);
  }
  rmSync(folder, { recursive: true });
});
