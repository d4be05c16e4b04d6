import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { oddResult } from '../../test/fixtures/odd-result.ts';
import { fixtureCommand } from '../../test/support/fixture-upstream.ts';
import { silentLog } from '../../test/support/silent-log.ts';
import type { AppError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { UpstreamConnection, UpstreamConnector } from '../kernel/ports.ts';
import { createClock } from './clock.ts';
import { familyOf, processTable } from './process-table.ts';
import { createSpawner, type OwnedSpawner } from './process.ts';
import { createUpstreamConnector } from './upstream.ts';

let folder: string;
let spawner: OwnedSpawner;
let connector: UpstreamConnector;
const signal = new AbortController().signal;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sallyport-upstream-'));
  spawner = await createSpawner({ runFolder: folder, log: silentLog(), maxLineBytes: 1024 * 1024 });
  connector = createUpstreamConnector({ spawner, clock: createClock(), log: silentLog(), client: { name: 'test', version: '0' } });
});
afterAll(async () => {
  await spawner.close();
  rmSync(folder, { recursive: true, force: true });
});

function open([command, ...args]: [string, ...string[]], startTimeoutMs = 10_000, stop = signal): Promise<UpstreamConnection> {
  return connector.open({ command, args, env: { PATH: process.env['PATH'] ?? '' } }, { startTimeoutMs, signal: stop });
}

async function failure(behaviour: string, args: string[] = [], startTimeoutMs = 5_000): Promise<AppError> {
  return open(fixtureCommand(behaviour, ...args), startTimeoutMs).then(
    () => expect.unreachable('it started'),
    (error: AppError) => error,
  );
}

const call = (
  connection: UpstreamConnection,
  tool: string,
  args: JsonObject = {},
  more: { onProgress?: (note: JsonObject) => void; timeoutMs?: number; signal?: AbortSignal } = {},
) => connection.request('tools/call', JSON.stringify({ name: tool, arguments: args }), { signal, timeoutMs: 5_000, ...more });

/** Nobody of ours is left besides the guard. */
function leftovers(): number {
  return processTable().filter((row) => row.parent === process.pid && row.session === row.pid).length;
}

describe('opening an upstream', () => {
  test('is a handshake, and requests work after it', async () => {
    const connection = await open(fixtureCommand('echo'));
    expect(connection).toMatchObject({
      protocolVersion: '2025-11-25',
      serverInfo: { name: 'fixture' },
      capabilities: { tools: {} },
    });
    expect(await call(connection, 'echo', { message: 'hi' })).toMatchObject({
      kind: 'result',
      value: { content: [{ text: 'hi' }] },
    });
    expect(await call(connection, 'refuses')).toMatchObject({ kind: 'error', code: -32602 });
    await connection.close(1_000);
    expect(await connection.closed).toMatchObject({ stderrTail: '' });
  });

  test('[FLEET-1] one that never answers initialize fails within its deadline and its whole group is gone', async () => {
    const before = leftovers();
    const startedAt = performance.now();
    const error = await failure('mute', [], 700);
    expect(performance.now() - startedAt).toBeLessThan(1_500);
    expect(error).toMatchObject({
      kind: 'unavailable',
      code: 'fleet.start_failed',
      data: { cause: 'fleet.timeout', signal: 'SIGKILL', sent: false },
    });
    expect(error.message).toContain('did not answer initialize within 700 ms');
    expect(leftovers()).toBe(before);
  });

  test('[FLEET-4] one that exits at once fails at once, with its exit code and its last words without control sequences', async () => {
    const startedAt = performance.now();
    const error = await failure('exit-at-once', ['3']);
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    expect(error.message).toContain('exited with code 3');
    expect(error.data).toMatchObject({ exit_code: 3, stderr_tail: 'fatal: no configuration found' });
  });

  test.each([
    ['error-initialize', 'no licence'],
    ['wrong-version', '1999-01-01'],
  ])('[FLEET-1] %s is refused in words and stopped', async (behaviour, words) => {
    const before = leftovers();
    const error = await failure(behaviour);
    expect(error.code).toBe('fleet.start_failed');
    expect(error.message).toContain(words);
    expect(leftovers()).toBe(before);
  });

  test('[FLEET-10] a missing program is told before anything runs', async () => {
    await expect(open(['no-such-program'])).rejects.toMatchObject({ code: 'process.spawn_failed' });
  });

  test('giving up while it starts ends its process', async () => {
    const before = leftovers();
    const stop = new AbortController();
    const opening = open(fixtureCommand('mute'), 10_000, stop.signal);
    setTimeout(() => stop.abort(), 300);
    await expect(opening).rejects.toMatchObject({ code: 'fleet.start_failed' });
    expect(leftovers()).toBe(before);
  });
});

describe('an open upstream', () => {
  test('[DOOR-11] gives back the very bytes of a result', async () => {
    const connection = await open(fixtureCommand('echo'));
    expect((await call(connection, 'odd')).json).toBe(oddResult);
    await connection.close(0);
  });

  test('[DOOR-5] progress that shares a write with its result comes first, all of it', async () => {
    const connection = await open(fixtureCommand('progress-burst'));
    const seen: unknown[] = [];
    for (let round = 0; round < 20; round += 1) {
      const notes: JsonObject[] = [];
      await call(connection, 'burst', { count: '15' }, { onProgress: (note) => notes.push(note) });
      seen.push(notes.length);
      expect(notes[0]).toEqual({ progress: 1, total: 15, message: 'step 1', 'x-extra': true });
    }
    expect(seen).toEqual(Array.from({ length: 20 }, () => 15));
    await connection.close(0);
  });

  test('[FLEET-12] [DOOR-6] a call has a deadline, endless progress or not, and the upstream hears of the cancellation', async () => {
    const connection = await open(fixtureCommand('never-answers-call'));
    const abort = new AbortController();
    const cancelled = call(connection, 'hang', {}, { signal: abort.signal });
    await expect(call(connection, 'nag', {}, { timeoutMs: 100, onProgress: () => undefined })).rejects.toMatchObject({
      code: 'fleet.timeout',
    });
    abort.abort();
    await expect(cancelled).rejects.toMatchObject({ code: 'fleet.cancelled' });
    const { json } = await call(connection, 'cancelled');
    expect(json).toContain('[\\"3\\",\\"2\\"]');
    await connection.close(0);
  });

  test('[FLEET-2] its crash is seen at once and calls in flight end with an unknown outcome', async () => {
    const connection = await open(fixtureCommand('crash-on-call'));
    const hanging = call(connection, 'hang');
    const crashing = call(connection, 'crash', { code: '7' });
    const codes = await Promise.all(
      [hanging, crashing].map((one) => one.catch((error: AppError) => `${error.code} ${String(error.data?.['exit_code'])}`)),
    );
    expect(codes).toEqual(['fleet.exited 7', 'fleet.exited 7']);
    expect(await connection.closed).toMatchObject({ code: 7, stderrTail: 'about to crash' });
    await expect(call(connection, 'hang')).rejects.toMatchObject({ code: 'fleet.exited', data: { sent: false } });
  });

  test('[FLEET-10] garbage between frames is tolerated, garbage without end is not', async () => {
    const connection = await open(fixtureCommand('garbage', '20'));
    expect((await call(connection, 'echo', { message: 'through' })).json).toContain('through');
    await connection.close(0);
    const error = await failure('garbage', ['5000']);
    expect(error.message).toContain('no JSON-RPC');
  });

  test('[FLEET-10] one that floods stderr or stdout answers all the same', async () => {
    for (const behaviour of ['flood-stderr', 'flood-stdout']) {
      const connection = await open(fixtureCommand(behaviour));
      await new Promise((resolve) => setTimeout(resolve, 400));
      expect((await call(connection, 'echo', { message: 'hi' })).kind).toBe('result');
      await connection.close(0);
      expect((await connection.closed).stderrTail.length).toBeLessThanOrEqual(4_096);
    }
  });

  test('[FLEET-10] one whose line never ends is stopped', async () => {
    const connection = await open(fixtureCommand('flood-stdout', 'line'));
    const pending = call(connection, 'echo', { message: 'hi' }).then(() => call(connection, 'echo'));
    await connection.closed;
    await pending.catch(() => undefined);
    await expect(call(connection, 'echo')).rejects.toMatchObject({ code: 'fleet.protocol' });
  });

  test('its questions are answered or refused under its own ids', async () => {
    const connection = await open(fixtureCommand('asks'));
    const reply = await call(connection, 'ask');
    const { content } = JSON.parse(reply.json) as { content: { text: string }[] };
    const answers = (content[0]?.text ?? '')
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string; error?: { code: number } });
    expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
      ['q-ping', undefined],
      ['q-sampling/createMessage', -32601],
      ['q-roots/list', -32601],
    ]);
    await connection.close(0);
  });

  test('[FLEET-5] closing it takes its children along', async () => {
    const connection = await open(fixtureCommand('grandchild'));
    const family = familyOf(connection.pid ?? 0, processTable());
    expect(family).toHaveLength(2);
    await connection.close(200);
    const table = processTable();
    expect(family.filter((row) => table.some((now) => now.pid === row.pid && now.startedAt === row.startedAt))).toEqual([]);
  });
});
