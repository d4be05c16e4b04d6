// `sallyport mcp` as an agent starts it: where the token comes from, which door it goes to, and what it says when there is none.
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openShell, type Shell } from '../../../test/support/run-program.ts';

const program = fileURLToPath(new URL('../../../test/fixtures/small-program.ts', import.meta.url));
const hello = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
});

let shell: Shell;
let door: Server;
let asked: { path: string | undefined; authorization: string | undefined }[];

beforeEach(async () => {
  shell = await openShell([process.execPath, program]);
  asked = [];
  door = createServer((request, response) => {
    asked.push({ path: request.url, authorization: request.headers.authorization });
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          result: { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'd', version: '1' } },
        }),
      );
    });
  });
  await new Promise<void>((resolve) => door.listen({ host: '127.0.0.1', port: 0 }, resolve));
});
afterEach(async () => {
  door.closeAllConnections();
  await new Promise((resolve) => door.close(resolve));
  await shell.close();
});

/** The note a running daemon leaves, for the door of this test. */
async function pretendToRun(): Promise<void> {
  const { port } = door.address() as AddressInfo;
  await mkdir(join(shell.home, 'run'), { recursive: true });
  await writeFile(
    join(shell.home, 'run', 'daemon.json'),
    JSON.stringify({ agent_url: `http://127.0.0.1:${port}/mcp`, pid: process.pid }),
  );
}

async function tokenFile(mode: number): Promise<Record<string, string>> {
  const path = join(shell.home, '..', 'token');
  await writeFile(path, 'from-file\n');
  await chmod(path, mode);
  return { SALLYPORT_TOKEN_FILE: path };
}

async function say(args: string[], environment: Record<string, string>) {
  const running = shell.start(['mcp', ...args], environment);
  running.write(`${hello}\n`);
  const text = await running.until('\n');
  running.child.stdin?.end();
  return { answer: JSON.parse(text) as { result?: object; error?: { message: string } }, end: await running.finished };
}

test('[DOOR-9] it relays to the door of the running daemon, with the token of the environment', async () => {
  await pretendToRun();
  const { answer, end } = await say([], { SALLYPORT_TOKEN: 'secret' });
  expect(answer.result).toMatchObject({ protocolVersion: '2025-06-18' });
  expect(asked[0]).toEqual({ path: '/mcp', authorization: 'Bearer secret' });
  expect(end).toMatchObject({ code: 0 });
});

test('[DOOR-9] --toolset goes to the endpoint of that toolset, a token file is read when it is private', async () => {
  await pretendToRun();
  await say(['--toolset', 'gate'], await tokenFile(0o600));
  expect(asked[0]).toEqual({ path: '/mcp/gate', authorization: 'Bearer from-file' });
});

test('[DOOR-9] a token file that others may read is refused, and its content is not shown', async () => {
  const { code, stdout, stderr } = await shell.run(['mcp'], await tokenFile(0o640));
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain('chmod 600');
  expect(stderr).not.toContain('from-file');
});

test('[DOOR-9] without a token it says where to get one', async () => {
  for (const environment of [{}, { SALLYPORT_TOKEN: '' }, { SALLYPORT_TOKEN_FILE: '/no/such/file' }]) {
    const { code, stdout, stderr } = await shell.run(['mcp'], environment);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('sallyport agent add NAME');
  }
});

test('[DOOR-9] without a daemon a request is answered with what to do', async () => {
  const { port } = door.address() as AddressInfo;
  await pretendToRun();
  await new Promise((resolve) => door.close(resolve));
  const { answer } = await say([], { SALLYPORT_TOKEN: 'secret' });
  expect(answer.error?.message).toContain(`127.0.0.1:${port}`);
  expect(answer.error?.message).toContain('sallyport up');
});

test('an unknown toolset is misuse', async () => {
  expect(await shell.run(['mcp', '--toolset', 'nope'])).toMatchObject({ code: 2, stdout: '' });
});
