// What is preloaded into other gateways: they listen on loopback whatever they ask for, reach no other machine, and end with their starter.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';

const preload = fileURLToPath(new URL('../../bench/loopback.ts', import.meta.url));
const started: ChildProcess[] = [];

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

/** The messages a program sends, in order, with the preload in front of it. */
async function said(program: string, count: number): Promise<{ child: ChildProcess; messages: unknown[] }> {
  const child = spawn(process.execPath, ['--import', preload, '--input-type=module', '-e', program], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  started.push(child);
  const messages: unknown[] = [];
  while (messages.length < count) messages.push(((await once(child, 'message')) as [unknown])[0]);
  return { child, messages };
}

test('a server that asks for every address and a port of its own gets a free one of 127.0.0.1, by any way of asking', async () => {
  const listens = ["server.listen(7999, '0.0.0.0', say)", 'server.listen({ port: 7999 }, say)', "server.listen('7999', say)"];
  for (const listen of listens) {
    const program = `
      import { createServer } from 'node:http';
      const server = createServer();
      const say = () => process.send({ address: server.address() });
      ${listen};`;
    const { messages } = await said(program, 2);
    const [{ listening }, { address }] = messages as [{ listening: number }, { address: { address: string; port: number } }];
    expect(address).toMatchObject({ address: '127.0.0.1', port: listening });
    expect(listening).not.toBe(7999);
  }
});

test('no other machine is found by name, localhost is, and fetch is held to the same', async () => {
  const program = `
    import { lookup } from 'node:dns';
    lookup('example.org', (error) => process.send({ code: error.code }));
    lookup('localhost', (error, address) => process.send({ address }));
    fetch('https://example.org/').catch((error) => process.send({ code: error.cause.code }));`;
  const { messages } = await said(program, 3);
  expect(messages).toContainEqual({ address: '127.0.0.1' });
  expect(messages.filter((message) => (message as { code?: string }).code === 'ENOTFOUND')).toHaveLength(2);
});

test('it ends when its starter is gone', async () => {
  const { child } = await said("import { createServer } from 'node:net'; createServer().listen(1);", 1);
  child.disconnect();
  expect(await once(child, 'exit')).toEqual([0, null]);
});
