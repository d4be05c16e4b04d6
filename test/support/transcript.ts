// Plain-text transcripts of the command line. One statement a line; `${NAME}` is replaced by what was saved or set.
//
//   # words                     a comment
//   up                          starts the daemon in the foreground, unless one runs; `up NAME=value` with that in its environment
//   kill                        kill -9 for the daemon
//   set NAME value              a variable of the transcript
//   env NAME=value              for all that follows; `env NAME=` removes it
//   write PATH MODE             a file of what follows, each line behind two blanks
//   $ command                   `sallyport command` with exit code 0; `$1 …`, `$2 …` with that exit code
//   mcp TOKEN TOOL {json}       an agent calls a tool through `sallyport mcp`; standard output is the text of the result
//   | text     |! text          standard output of the last command has it, has it not
//   2| text    2|! text         the same for standard error
//   save NAME regex             keeps the first group found in standard output
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { splitWords } from '../../src/lib/split-words.ts';
import { openShell, type Running, type Shell } from './run-program.ts';

const main = fileURLToPath(new URL('../../src/app/main.ts', import.meta.url));

export interface Played {
  readonly commands: number;
  /** The first statement that did not hold, with what was there instead. */
  readonly mismatch: string | undefined;
}

interface Last {
  readonly stdout: string;
  readonly stderr: string;
}

export async function runTranscript(text: string): Promise<Played> {
  const shell = await openShell([process.execPath, main]);
  const player = createPlayer(shell);
  try {
    const lines = text.split('\n');
    for (let at = 0; at < lines.length; at += 1) {
      const line = lines[at] ?? '';
      if (line.trim() === '' || line.startsWith('#')) continue;
      const body: string[] = [];
      while (lines[at + 1]?.startsWith('  ') === true) body.push((lines[(at += 1)] ?? '').slice(2));
      const problem = await player.play(line, body);
      if (problem !== undefined) return { commands: player.commands(), mismatch: `line ${at + 1}: ${line}\n${problem}` };
    }
    return { commands: player.commands(), mismatch: undefined };
  } finally {
    await player.stop();
    await shell.close();
  }
}

function createPlayer(shell: Shell) {
  const variables = new Map<string, string>([
    ['HOME', shell.home],
    ['FIXTURE', fileURLToPath(new URL('../fixtures/server.ts', import.meta.url))],
    ['NODE', process.execPath],
  ]);
  const environment: Record<string, string> = {};
  let daemon: Running | undefined;
  let last: Last = { stdout: '', stderr: '' };
  let commands = 0;

  const filled = (line: string): string => line.replaceAll(/\$\{(\w+)\}/g, (whole, name: string) => variables.get(name) ?? whole);

  async function up(words: readonly string[]): Promise<string | undefined> {
    const extra = Object.fromEntries(words.map((word) => word.split(/=(.*)/s).slice(0, 2) as [string, string]));
    daemon = shell.start(['up', '--agent-port', '0', '--human-port', '0', '--json'], { ...environment, ...extra });
    const facts = JSON.parse((await daemon.until('\n')).split('\n')[0] ?? '') as Record<string, unknown>;
    for (const [name, value] of Object.entries(facts)) variables.set(name, String(value));
    return undefined;
  }

  async function kill(): Promise<undefined> {
    daemon?.child.kill('SIGKILL');
    await daemon?.finished;
    daemon = undefined;
  }

  async function command(expected: number, line: string): Promise<string | undefined> {
    const words = splitWords(line);
    if (words === undefined) return 'a quote is left open';
    commands += 1;
    const { code, stdout, stderr } = await shell.run(words, environment);
    last = { stdout, stderr };
    return code === expected ? undefined : `exit code ${code}\n${stdout}\n${stderr}`;
  }

  async function call(token: string, tool: string, args: string): Promise<string | undefined> {
    commands += 1;
    const bridge = shell.start(['mcp'], { ...environment, SALLYPORT_TOKEN: token });
    const clientInfo = { name: 'transcript', version: '1' };
    const send = (message: object): void => bridge.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } });
    send({ method: 'notifications/initialized' });
    send({ id: 2, method: 'tools/call', params: { name: tool, arguments: JSON.parse(args) as unknown } });
    const text = await bridge.until('"id":2');
    bridge.child.stdin?.end();
    const { stderr } = await bridge.finished;
    const answer = text.split('\n').find((line) => line.includes('"id":2')) ?? '';
    const { result, error } = JSON.parse(answer) as { result?: { content: { text: string }[] }; error?: { message: string } };
    last = { stdout: result?.content.map((part) => part.text).join('\n') ?? error?.message ?? '', stderr };
    return undefined;
  }

  async function write(path: string, mode: string, body: readonly string[]): Promise<undefined> {
    const file = join(shell.home, '..', path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `${body.map(filled).join('\n')}\n`);
    await chmod(file, Number.parseInt(mode, 8));
    variables.set(path, file);
  }

  function holds(line: string): string | undefined {
    const [, stream, not, text = ''] = /^(2?)\|(!?) ?(.*)$/.exec(line) ?? [];
    const seen = stream === '2' ? last.stderr : last.stdout;
    return seen.includes(text) === (not === '') ? undefined : seen;
  }

  function save(name: string, pattern: string): string | undefined {
    const found = new RegExp(pattern).exec(last.stdout)?.[1];
    if (found === undefined) return last.stdout;
    variables.set(name, found);
    return undefined;
  }

  return {
    commands: () => commands,
    async play(raw: string, body: readonly string[]): Promise<string | undefined> {
      const line = filled(raw);
      const [verb = '', first = '', second = '', ...others] = line.split(' ');
      if (/^2?\|/.test(verb)) return holds(line);
      if (/^\$[12]?$/.test(verb)) return command(Number(verb.slice(1) || 0), line.slice(verb.length + 1));
      if (verb === 'up') return up(line.split(' ').slice(1));
      if (verb === 'kill') return kill();
      if (verb === 'mcp') return call(first, second, others.join(' '));
      if (verb === 'write') return write(first, second, body);
      if (verb === 'save') return save(first, [second, ...others].join(' '));
      if (verb === 'set') variables.set(first, [second, ...others].join(' '));
      else if (verb === 'env') environment[first.split('=')[0] ?? ''] = first.split(/=(.*)/s)[1] ?? '';
      else return `no statement is called ${verb}`;
      return undefined;
    },
    async stop(): Promise<void> {
      daemon?.child.kill('SIGTERM');
      await daemon?.finished;
    },
  };
}
