import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { acceptAll, callTool, fleetHome, statusOf, textOf, until } from '../../../test/support/fleet-home.ts';

const script = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json')),
  'dist/index.js',
);

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function everything(): Promise<string> {
  const port = await freePort();
  const child = spawn(process.execPath, [script, 'streamableHttp'], {
    env: { PATH: process.env['PATH'], PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  await until(() => said.includes('listening'), 20_000);
  return `http://127.0.0.1:${port}/mcp`;
}

test('[HTTPUP-20] server-everything over Streamable HTTP: tools, progress, two agents, an end', { timeout: 40_000 }, async () => {
  const home = await fleetHome(
    `upstreams:\n  - ${JSON.stringify({ name: 'every', transport: { kind: 'http', url: await everything() } })}\n`,
  );
  const fleet = await home.open();
  await acceptAll(fleet);
  expect(statusOf(fleet, 'every')).toMatchObject({ state: 'ready', era: '2025-11-25' });
  expect(statusOf(fleet, 'every')?.tools).toBeGreaterThan(8);
  for (const session of ['a', 'b'])
    expect(textOf(await callTool(fleet, 'every', 'echo', { message: session }, { session }))).toContain(session);
  const notes: unknown[] = [];
  const long = { duration: 0.3, steps: 3 };
  const onProgress = (note: { progress?: unknown }): void => void notes.push(note.progress);
  await callTool(fleet, 'every', 'trigger-long-running-operation', long, { session: 'a', onProgress });
  expect(notes).toEqual([1, 2, 3]);
  fleet.endSession('a');
  expect(statusOf(fleet, 'every')).toMatchObject({ sessions: 1 });
});
