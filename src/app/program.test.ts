// The program as a process around a small daemon: start, stop, first run, terminal, signals.
import { spawnSync } from 'node:child_process';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openShell, type Running, type Shell } from '../../test/support/run-program.ts';

const program = fileURLToPath(new URL('../../test/fixtures/small-program.ts', import.meta.url));
const upJson = ['up', '--agent-port', '0', '--human-port', '0', '--json'];
const passphrase = 'correct horse battery staple';

let shell: Shell;
beforeEach(async () => {
  shell = await openShell([process.execPath, program]);
});
afterEach(() => shell.close());

interface Line {
  readonly agent_url: string;
  readonly human_url: string;
  readonly socket: string;
  readonly pid: number;
}

async function up(environment: Record<string, string> = {}): Promise<{ running: Running; line: Line }> {
  const running = shell.start(upJson, environment);
  const [first = ''] = (await running.until('\n')).split('\n');
  return { running, line: JSON.parse(first) as Line };
}

async function passphraseFile(mode = 0o600): Promise<Record<string, string>> {
  const path = join(shell.home, '..', 'passphrase');
  await writeFile(path, `${passphrase}\n`);
  await chmod(path, mode);
  return { SALLYPORT_OPERATOR_PASSPHRASE_FILE: path };
}

test('[CLI-2] up prints one JSON line, writes where it is, and SIGTERM ends it with 0', async () => {
  const { running, line } = await up();
  expect(line).toEqual({
    agent_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/) as string,
    human_url: expect.stringMatching(/^http:\/\/small\.localhost:\d+$/) as string,
    socket: join(shell.home, 'run', 'sallyport.sock'),
    pid: running.pid,
  });
  expect(JSON.parse(await readFile(join(shell.home, 'run', 'daemon.json'), 'utf8'))).toEqual(line);
  expect((await stat(shell.home)).mode & 0o777).toBe(0o700);
  running.child.kill('SIGTERM');
  const { code, signal, stdout } = await running.finished;
  expect([code, signal, stdout.trim().split('\n').length]).toEqual([0, null, 1]);
  await expect(readFile(join(shell.home, 'run', 'daemon.json'))).rejects.toMatchObject({ code: 'ENOENT' });
});

test.each(['SIGINT', 'SIGHUP'] as const)('[CLI-2] %s ends it with 0 as well', async (signal) => {
  const { running } = await up();
  running.child.kill(signal);
  expect(await running.finished).toMatchObject({ code: 0, signal: null });
});

test('[CLI-2] a SIGTERM during the start is obeyed once the start is through', async () => {
  const running = shell.start(upJson, { SMALL_SLOW_START_MS: '1500' });
  await new Promise((resolve) => setTimeout(resolve, 900));
  running.child.kill('SIGTERM');
  expect(await running.finished).toMatchObject({ code: 0, signal: null, stdout: '' });
});

test('[CLI-2] down works from elsewhere, waits until it is gone, and is content when nothing runs', async () => {
  const { running, line } = await up();
  const stopped = await shell.run(['down', '--json']);
  expect([stopped.code, JSON.parse(stopped.stdout)]).toEqual([0, { stopped: true, pid: line.pid }]);
  expect(await running.finished).toMatchObject({ code: 0 });
  expect(await shell.run(['down', '--json'])).toMatchObject({ code: 0, stdout: '{"stopped":false}\n' });
  expect((await shell.run(['down'])).stdout).toContain(`No daemon is running for ${shell.home}`);
});

test('[CLI-2] a second up on the same home names the first and changes nothing', async () => {
  const { running } = await up();
  const second = await shell.run(upJson);
  expect(second).toMatchObject({ code: 1, stdout: '' });
  expect(JSON.parse(second.stderr)).toMatchObject({
    error: { code: 'daemon.running', message: expect.stringContaining(`pid ${running.pid}`) as string },
  });
  expect((await shell.run(['status'])).code).toBe(0);
});

test('what a killed daemon leaves is recognised and taken over', async () => {
  const { running } = await up();
  running.child.kill('SIGKILL');
  await running.finished;
  expect(JSON.parse((await shell.run(['status', '--json'])).stdout)).toEqual({ running: false, home: shell.home });
  expect(await shell.run(['down'])).toMatchObject({ code: 0 });
  const again = await up();
  expect(again.line.pid).not.toBe(running.pid);
});

test('[DOOR-10] a taken port ends up with the port in the error', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen({ host: '127.0.0.1', port: 0 }, resolve));
  const { port } = taken.address() as { port: number };
  const { code, stderr } = await shell.run(['up', '--human-port', String(port)]);
  taken.close();
  expect(code).toBe(1);
  expect(stderr).toContain(`port ${port}`);
  expect(stderr).toContain('--human-port');
});

test('status tells whether a daemon runs, for people and for scripts', async () => {
  expect(await shell.run(['status'])).toMatchObject({
    code: 1,
    stdout: `No daemon is running for ${shell.home}. Start it with: sallyport up\n`,
  });
  const { line } = await up();
  const { code, stdout } = await shell.run(['status', '--json']);
  expect([code, JSON.parse(stdout)]).toEqual([0, { running: true, pid: line.pid, human_url: line.human_url, operator: false }]);
});

test('[CLI-1] without a daemon a command says how to start one', async () => {
  expect(await shell.run(['note', 'list'])).toEqual({
    code: 1,
    signal: null,
    stdout: '',
    stderr: `sallyport: no daemon is running for ${shell.home}\nStart it with: sallyport up\n`,
  });
});

test('[CLI-1] help and version need no daemon and no home', async () => {
  expect((await shell.run(['--help'])).stdout).toContain('  up ');
  expect((await shell.run(['up', '--help'])).stdout).toContain('--agent-port N');
  expect(JSON.parse((await shell.run(['--version', '--json'])).stdout)).toEqual({
    version: expect.stringMatching(/^\d/) as string,
    node: process.versions.node,
  });
  await expect(stat(shell.home)).rejects.toMatchObject({ code: 'ENOENT' });
});

test('[CLI-1] a port that is none is misuse', async () => {
  for (const port of ['70000', '-1', 'x', '1.5']) {
    expect([port, (await shell.run(['up', '--agent-port', port])).code]).toEqual([port, 2]);
  }
});

test('a home that cannot be made is said', async () => {
  await writeFile(shell.home, 'a file');
  const { code, stderr } = await shell.run(upJson);
  expect(code).toBe(1);
  expect(JSON.parse(stderr)).toMatchObject({
    error: { code: 'daemon.no_home', hint: expect.stringContaining('SALLYPORT_HOME') as string },
  });
});

test('a reader that stops reading does not end the daemon', async () => {
  const running = shell.start(upJson);
  await running.until('\n');
  running.child.stdout?.destroy();
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect((await shell.run(['status'])).code).toBe(0);
});

describe('the operator', () => {
  test('[CLI-3] without a terminal the passphrase file seats the operator on an empty home, and signs', async () => {
    const environment = await passphraseFile();
    const { line } = await up(environment);
    expect((await stat(join(shell.home, 'keys', 'operator.json'))).mode & 0o777).toBe(0o600);
    expect(JSON.parse((await shell.run(['status', '--json'])).stdout)).toMatchObject({ pid: line.pid, operator: true });
    const added = await shell.run(['note', 'add', 'hello', '--json'], environment);
    expect([added.code, added.stdout]).toEqual([0, '{"id":1,"token":"T"}\n']);
    expect((await shell.run(['note', 'add', 'hello', '--json'])).code).toBe(1);
  });

  test('[CLI-3] without a terminal and a file it starts, asks nothing, and says what is missing', async () => {
    const { running } = await up();
    expect(JSON.parse((await shell.run(['status', '--json'])).stdout)).toMatchObject({ operator: false });
    running.child.kill('SIGTERM');
    const { stderr } = await running.finished;
    expect(stderr).toContain('sallyport operator init');
  });

  test('a passphrase file that others may read stops the start', async () => {
    const { code, stdout, stderr } = await shell.run(upJson, await passphraseFile(0o644));
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('chmod 600');
  });

  test('operator init before the daemon makes the key, and the next start seats it', async () => {
    const environment = await passphraseFile();
    const made = await shell.run(['operator', 'init', '--json'], environment);
    expect(JSON.parse(made.stdout)).toMatchObject({ seated: false, path: join(shell.home, 'keys', 'operator.json') });
    expect((await shell.run(['operator', 'init'], environment)).code).toBe(1);
    await up(environment);
    expect(JSON.parse((await shell.run(['status', '--json'])).stdout)).toMatchObject({ operator: true });
  });

  test('operator init while the daemon runs seats the key at once, and only once', async () => {
    const environment = await passphraseFile();
    await up();
    expect(JSON.parse((await shell.run(['operator', 'init', '--json'], environment)).stdout)).toMatchObject({ seated: true });
    const second = await shell.run(['operator', 'init'], environment);
    expect([second.code, second.stderr]).toEqual([1, expect.stringContaining('has an operator already')]);
  });

  test('operator init with nobody to ask says what to do', async () => {
    const { code, stderr } = await shell.run(['operator', 'init']);
    expect(code).toBe(1);
    expect(stderr).toContain('SALLYPORT_OPERATOR_PASSPHRASE_FILE');
  });
});

const hasTerminal = spawnSync('script', ['--version']).status === 0;

describe.skipIf(!hasTerminal)('at a terminal', () => {
  const upArgs = ['up', '--agent-port', '0', '--human-port', '0'];

  test('[CLI-3] the first run takes a passphrase twice without echo, then an agent and an upstream, and prints a client config', async () => {
    const running = shell.startAtTerminal(upArgs);
    const answer = async (prompt: string, text: string): Promise<void> => {
      await running.until(prompt);
      running.write(`${text}\r`);
    };
    await answer('New operator passphrase: ', passphrase);
    await answer('The same again: ', 'another thing entirely');
    await running.until('differ. Try again.');
    // The second try is typed ahead, with a character taken back, and still one line goes to each question.
    running.write(`${passphrase}x\u007f\r${passphrase}\r`);
    await answer('Name of the first agent', 'coder');
    await running.until('Sign and do this?');
    running.write(`y\r${passphrase}\r`);
    await answer('Command of the first MCP server', 'npx -y "some server"');
    await answer('Name for it', 'some');
    await running.until('some server');
    await running.until('upstreams.add');
    running.write(`y\r${passphrase}\r`);
    const text = await running.until('Bearer token-shown-once');
    expect(text).not.toContain(passphrase);
    expect(text).not.toContain('another thing');
    expect(text).toContain('claude mcp add --transport http sallyport http://127.0.0.1:');
    expect(text.split('Authorization: Bearer token-shown-once').length).toBe(2);
    expect(JSON.parse((await shell.run(['status', '--json'])).stdout)).toMatchObject({ operator: true });
    running.write('\u0003');
    expect(await running.finished).toMatchObject({ code: 0 });
  });

  test('[CLI-3] every question of the first run may be skipped or given up, and the daemon serves on', async () => {
    const running = shell.startAtTerminal(upArgs, await passphraseFile());
    await running.until('Name of the first agent');
    running.write('\r');
    await running.until('Command of the first MCP server');
    running.write('\u0003');
    await running.until('Later: sallyport agent add NAME');
    expect((await shell.run(['status'])).code).toBe(0);
    expect((await shell.run(['down'])).code).toBe(0);
    expect(await running.finished).toMatchObject({ code: 0 });
  });

  test('[CLI-3] Ctrl-C at the passphrase ends the first run and leaves no key behind', async () => {
    const running = shell.startAtTerminal(upArgs);
    await running.until('New operator passphrase: ');
    running.write('\u0003');
    const { code, stdout } = await running.finished;
    expect([code, stdout.includes('interrupted')]).toEqual([1, true]);
    await expect(stat(join(shell.home, 'keys', 'operator.json'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('down ends a daemon that waits at a prompt', async () => {
    const running = shell.startAtTerminal(upArgs);
    await running.until('New operator passphrase: ');
    expect((await shell.run(['down'])).code).toBe(0);
    expect(await running.finished).toMatchObject({ code: 0 });
  });

  test('a decision asks at the terminal even when its output goes elsewhere, and the passphrase is not echoed', async () => {
    await up(await passphraseFile());
    const running = shell.startAtTerminal(['note', 'add', 'hello']);
    await running.until('Sign and do this? [y/N]');
    running.write('y\r');
    await running.until('Operator passphrase: ');
    running.write('wrong\r');
    await running.until('Try again.');
    running.write(`${passphrase}\r`);
    const { code, stdout } = await running.finished;
    expect(code).toBe(0);
    expect(stdout).toContain('token  T');
    expect(stdout).not.toContain(passphrase);
    expect(stdout).not.toContain('wrong');
  });
});

test('[CLI-2] a daemon that hangs is named and stopped all the same', async () => {
  const { running, line } = await up();
  running.child.kill('SIGSTOP');
  const asked = await shell.run(['status', '--json']);
  expect([asked.code, JSON.parse(asked.stderr)]).toMatchObject([1, { error: { code: 'daemon.silent' } }]);
  // SIGTERM waits until the process runs again.
  const stopping = shell.run(['down', '--json']);
  await new Promise((resolve) => setTimeout(resolve, 6_000));
  running.child.kill('SIGCONT');
  expect(JSON.parse((await stopping).stdout)).toEqual({ stopped: true, pid: line.pid });
}, 30_000);
