// The whole program as people start it, with the real daemon behind it: through bin/sallyport.js on an older Node (what was built, if
// it was), at a terminal, and in front of strangers.
import { spawnSync } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isAlive } from '../../src/app/process-alive.ts';
import { oldRuntime } from '../support/old-runtime.ts';
import { openShell, type Running, type Shell } from '../support/run-program.ts';

const launcher = fileURLToPath(new URL('../../bin/sallyport.js', import.meta.url));
const main = fileURLToPath(new URL('../../src/app/main.ts', import.meta.url));
const passphrase = 'correct horse battery staple';
const upArgs = ['up', '--agent-port', '0', '--human-port', '0'];

let shell: Shell;
let environment: Record<string, string>;

async function open(program: readonly [string, ...string[]]): Promise<void> {
  shell = await openShell(program);
  const file = join(shell.home, '..', 'passphrase');
  await writeFile(file, passphrase);
  await chmod(file, 0o600);
  environment = { SALLYPORT_OPERATOR_PASSPHRASE_FILE: file };
}
afterEach(() => shell.close());

interface Line {
  readonly agent_url: string;
  readonly human_url: string;
  readonly pid: number;
}

async function up(): Promise<{ running: Running; line: Line }> {
  const running = shell.start([...upArgs, '--json'], environment);
  return { running, line: JSON.parse((await running.until('\n')).split('\n')[0] ?? '') as Line };
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('it did not come true within 10 s');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('through the launcher on an older Node', () => {
  beforeEach(async () => open([...oldRuntime(), launcher]));

  test('[HOUSE-3] [CLI-2] the daemon starts, its pid is its own, and a SIGTERM to the launcher ends both with 0', async () => {
    const { running, line } = await up();
    expect(line.pid).not.toBe(running.pid);
    expect(line.agent_url).toMatch(/\/mcp$/);
    expect(JSON.parse((await shell.run(['status', '--json'])).stdout)).toMatchObject({ running: true, pid: line.pid });
    running.child.kill('SIGTERM');
    expect(await running.finished).toMatchObject({ code: 0, signal: null });
    expect(isAlive(line.pid)).toBe(false);
  });

  test('[SEC-4] kill -9 of the launcher stops the daemon, and the record holds', async () => {
    const { running, line } = await up();
    running.child.kill('SIGKILL');
    await until(() => !isAlive(line.pid));
    expect((await shell.run(['status'])).code).toBe(1);
    expect(JSON.parse((await shell.run(['audit', 'verify', '--json'])).stdout)).toMatchObject({ ok: true, available: false });
  });

  test('[CLI-1] exit codes pass through', async () => {
    expect(await Promise.all([['--help'], ['status'], ['nonsense']].map(async (args) => (await shell.run(args)).code))).toEqual([
      0, 1, 2,
    ]);
  });
});

describe('the human door of a running daemon', () => {
  beforeEach(async () => open([process.execPath, main]));

  function ask(port: number, request: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port }, () => socket.write(request));
      let answer = '';
      socket.on('data', (chunk) => (answer += chunk.toString()));
      socket.on('close', () => resolve(answer));
      socket.on('error', reject);
    });
  }

  test('[DOOR-3] answers to its own name alone, and every stranger is on the record', async () => {
    const { line } = await up();
    const { host, port } = new URL(line.human_url);
    expect(host).toMatch(/^[a-z0-9-]+\.localhost:\d+$/);
    const get = (name: string, more = '') =>
      ask(Number(port), `GET / HTTP/1.1\r\nHost: ${name}\r\n${more}Connection: close\r\n\r\n`);
    expect(await get(host)).toMatch(/^HTTP\/1\.1 200 [^]*sallyport approve ID/);
    for (const name of [`127.0.0.1:${port}`, `localhost:${port}`, 'evil.example', 'a b', `${host}\r\nHost: evil.example`]) {
      expect(await get(name)).toMatch(/^HTTP\/1\.1 403 /);
    }
    expect(await get(host, 'Origin: https://evil.example\r\n')).toMatch(/^HTTP\/1\.1 403 /);
    const query = await shell.run(['audit', 'query', '--json']);
    expect(query.stdout).toContain('door.refused');
  });

  test('[SEC-2] takes no decision without a signature', async () => {
    const { line } = await up();
    const { host, port } = new URL(line.human_url);
    const body = JSON.stringify({ input: { name: 'intruder' } });
    const post = (path: string) =>
      ask(
        Number(port),
        `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
      );
    expect(await post('/v1/operations/agents.add')).toMatch(/^HTTP\/1\.1 401 [^]*operator\.proof_required/);
    expect(await post('/v1/operations/agents.list')).toMatch(/^HTTP\/1\.1 404 /);
    expect(await post('/v1/operations/agents.add/prepare')).toMatch(/^HTTP\/1\.1 404 /);
    expect(JSON.parse((await shell.run(['agent', 'ls', '--json'])).stdout)).toEqual([]);
  });
});

describe.skipIf(spawnSync('script', ['--version']).status !== 0)('a first run at a terminal', () => {
  beforeEach(async () => open([process.execPath, main]));

  test('[CLI-3] guides to an operator, an agent and a client config that works', async () => {
    const running = shell.startAtTerminal(upArgs);
    const answer = async (prompt: string, text: string): Promise<void> => {
      await running.until(prompt);
      running.write(`${text}\r`);
    };
    await answer('New operator passphrase: ', passphrase);
    await answer('The same again: ', passphrase);
    await answer('Name of the first agent', 'coder');
    await answer('Sign and do this?', 'y');
    await answer('Operator passphrase: ', passphrase);
    await answer('Command of the first MCP server', '');
    const text = await running.until('Later: sallyport agent add NAME');
    const token = /Bearer (sp_[\w-]+)/.exec(text)?.[1] ?? '';
    const url = /--transport http sallyport (\S+)/.exec(text)?.[1] ?? '';
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
      }),
    });
    expect(response.status).toBe(200);
    await response.text();
    expect(text).not.toContain(passphrase);
    expect(await readFile(join(shell.home, 'keys', 'operator.json'), 'utf8')).not.toContain(passphrase);
    expect((await shell.run(['down'])).code).toBe(0);
    expect(await running.finished).toMatchObject({ code: 0 });
  });
});
