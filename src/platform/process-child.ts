// One running child: lines in and out, stderr always drained, and an end that takes the whole family along. Knows no protocol.
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { nextTick } from 'node:process';
import { AppError } from '../kernel/errors.ts';
import type { Child, ChildExit } from '../kernel/ports.ts';
import { createLineReader } from '../wire/lines.ts';
import { familyOf, processTable, signal, type ProcessRow } from './process-table.ts';

/** After this the pipes of a dead child are given up, should a stranger hold their other end. */
const drainMs = 250;
const killWaitMs = 2_000;
const maxQueuedBytes = 64 * 1024 * 1024;
/** From here on lines do not wait for others; UTF-16 units. */
const longText = 64 * 1024;

export function createChild(
  process: ChildProcessWithoutNullStreams,
  pid: number,
  { maxLineBytes, onGone }: { readonly maxLineBytes: number; readonly onGone: () => void },
): Child {
  const stderrListeners: ((text: string) => void)[] = [];
  const faultListeners: ((fault: 'oversize' | 'encoding') => void)[] = [];
  let leaderLives = true;
  let finished = false;
  let stopping: Promise<void> | undefined;
  let killNow: () => void = () => undefined;
  let onLine: ((line: string) => void) | undefined;
  /** Lines that were written in this turn: they leave in one write, which wakes the program once. */
  let waiting = '';
  const reader = createLineReader({
    maxBytes: maxLineBytes,
    onLine: (line) => onLine?.(line),
    onFault: (fault) => faultListeners.forEach((listener) => listener(fault)),
  });

  // Broken pipes and the like are told by the exit; here they only must not be unhandled.
  for (const stream of [process.stdin, process.stdout, process.stderr]) stream.on('error', () => undefined);
  process.on('error', () => undefined);
  process.stderr.setEncoding('utf8');
  process.stderr.on('data', (text: string) => stderrListeners.forEach((listener) => listener(text)));

  const exited = new Promise<ChildExit>((resolve) => {
    process.once('exit', (code, signalName) => {
      leaderLives = false;
      if (stopping === undefined) endOrphans();
      let told = false;
      const tell = (): void => {
        if (told) return;
        told = true;
        clearTimeout(giveUp);
        reader.end();
        for (const stream of [process.stdin, process.stdout, process.stderr]) stream.destroy();
        resolve({ code, signal: signalName });
      };
      // What was written before the end is still delivered, and before the end is told.
      const giveUp = setTimeout(tell, drainMs);
      process.once('close', tell);
    });
  });

  function flush(): void {
    const lines = waiting;
    waiting = '';
    if (lines !== '' && process.stdin.writable) process.stdin.write(lines);
  }

  /** The leader went by itself: whoever it left has no owner any more. */
  function endOrphans(): void {
    const left = familyOf(pid, processTable());
    for (const row of left) signal(row.pid, 'SIGKILL');
    if (left.length === 0) finish();
    else void gone(left, killWaitMs).finally(finish);
  }

  /** From here on the pid may belong to a stranger and is never signalled again. */
  function finish(): void {
    if (finished) return;
    finished = true;
    onGone();
  }

  function familyNow(known: readonly ProcessRow[]): ProcessRow[] {
    const table = processTable();
    const now = familyOf(pid, table);
    // Those known from before count even when their parent died and they left the session.
    const alive = known.filter((old) => table.some((row) => row.pid === old.pid && row.startedAt === old.startedAt));
    return [...now, ...alive.filter((old) => !now.some((row) => row.pid === old.pid))];
  }

  /** Resolves to whether nobody is left within `ms`. */
  async function gone(known: readonly ProcessRow[], ms: number): Promise<boolean> {
    const until = performance.now() + ms;
    for (let waitMs = 5; ; waitMs = Math.min(50, waitMs * 2)) {
      if (!leaderLives && familyNow(known).length === 0) return true;
      if (performance.now() >= until) return false;
      await new Promise((resolve) => setTimeout(resolve, Math.min(waitMs, Math.max(1, until - performance.now()))));
    }
  }

  async function end(graceMs: number): Promise<void> {
    if (finished) return void (await exited);
    const known = leaderLives ? familyOf(pid, processTable()) : [];
    flush();
    process.stdin.end();
    const hurried = new Promise<boolean>((resolve) => {
      killNow = () => resolve(false);
    });
    const politeMs = Math.min(500, graceMs / 4);
    const left =
      graceMs > 0 &&
      ((await Promise.race([gone(known, politeMs), hurried])) ||
        (signalAll('SIGTERM', known), await Promise.race([gone(known, graceMs - politeMs), hurried])));
    if (!left) {
      signalAll('SIGKILL', known);
      await gone(known, killWaitMs);
    }
    finish();
    await exited;
  }

  function signalAll(name: NodeJS.Signals, known: readonly ProcessRow[]): void {
    for (const row of familyNow(known)) signal(row.pid, name);
  }

  return {
    pid,
    writeLine(line) {
      const { stdin } = process;
      if (!stdin.writable)
        throw new AppError('unavailable', 'process.closed', 'The program no longer reads its input.', { data: { sent: false } });
      if (stdin.writableLength + waiting.length > maxQueuedBytes) {
        throw new AppError('limited', 'process.backed_up', 'The program does not read what it is sent.', {
          retryAfterMs: 5_000,
          data: { sent: false },
        });
      }
      if (waiting === '') nextTick(flush);
      waiting += line;
      waiting += '\n';
      if (waiting.length > longText) flush();
      return !stdin.writableNeedDrain;
    },
    onLine(listener) {
      if (onLine !== undefined) throw new Error('a child has one reader of lines');
      onLine = listener;
      process.stdout.on('data', (chunk: Buffer) => reader.push(chunk));
    },
    onStderr: (listener) => void stderrListeners.push(listener),
    onFault: (listener) => void faultListeners.push(listener),
    exited,
    stop(graceMs) {
      if (stopping === undefined) stopping = end(graceMs);
      else if (graceMs === 0) killNow();
      return stopping;
    },
  };
}
