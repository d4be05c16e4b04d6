// The stdio bridge with its pipes in hand: lines in, lines out.
import { PassThrough } from 'node:stream';
import { expect } from 'vitest';
import { runBridge } from '../../src/wire/bridge.ts';
import type { DaemonAddress } from '../../src/wire/bridge-target.ts';
import { silentLog } from './silent-log.ts';

export interface HeardMessage {
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  readonly params?: unknown;
}

export interface RunningBridge {
  say(...lines: string[]): void;
  /** Everything said by the bridge so far. */
  readonly heard: HeardMessage[];
  readonly raw: string[];
  answerTo(id: unknown): Promise<HeardMessage>;
  readonly input: PassThrough;
  readonly output: PassThrough;
  readonly done: Promise<void>;
  readonly log: ReturnType<typeof silentLog>;
}

export function startBridge(endpoint: DaemonAddress, token: string, drainMs: number): RunningBridge {
  const input = new PassThrough();
  const output = new PassThrough();
  const heard: HeardMessage[] = [];
  const raw: string[] = [];
  let rest = '';
  output.setEncoding('utf8');
  output.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      raw.push(line);
      heard.push(JSON.parse(line) as HeardMessage);
    }
  });
  const log = silentLog();
  const done = runBridge({ input, output, endpoint, token, log, drainMs });
  const answer = (id: unknown): HeardMessage | undefined =>
    heard.find((message) => message.id === id && message.method === undefined);
  return {
    say: (...lines) => void input.write(lines.map((line) => `${line}\n`).join('')),
    heard,
    raw,
    async answerTo(id) {
      await expect.poll(() => answer(id), { timeout: 5_000, interval: 10 }).toBeDefined();
      return answer(id)!;
    },
    input,
    output,
    done,
    log,
  };
}
