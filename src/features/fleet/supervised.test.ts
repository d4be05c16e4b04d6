import { describe, expect, test } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { silentLog } from '../../../test/support/silent-log.ts';
import { AppError } from '../../kernel/errors.ts';
import type { ChildExit, UpstreamConnection, UpstreamReply } from '../../kernel/ports.ts';
import type { AuditEntry } from '../audit/model.ts';
import { createSupervised, type SupervisedDeps } from './supervised.ts';

const ok: UpstreamReply = { kind: 'result', json: '{}', value: {} };
const signal = new AbortController().signal;
const timeout = new AppError('unavailable', 'fleet.timeout', 'The upstream did not answer.', { data: { sent: true } });
const unsent = new AppError('unavailable', 'fleet.exited', 'The upstream exited.', { data: { sent: false } });

/** An upstream whose process is a handful of promises. */
function fakeUpstream() {
  const opened: { exit(exit: ChildExit): void; notify(method: string): void; closes: number }[] = [];
  const script = { open: (): void => undefined, request: async (_method: string): Promise<UpstreamReply> => ok };
  async function open(): Promise<UpstreamConnection> {
    await Promise.resolve();
    script.open();
    const listeners: ((method: string) => void)[] = [];
    let exit: (exit: ChildExit & { stderrTail: string }) => void = () => undefined;
    const handle = {
      exit: (how: ChildExit) => exit({ ...how, stderrTail: '' }),
      notify: (method: string) => listeners.forEach((one) => one(method)),
      closes: 0,
    };
    opened.push(handle);
    return {
      pid: opened.length,
      protocolVersion: '2025-11-25',
      capabilities: {},
      serverInfo: {},
      request: (method) => script.request(method),
      subscribe: () => Promise.resolve({ kind: 'result', json: '{}', value: {} }),
      unsubscribe: () => Promise.resolve({ kind: 'result', json: '{}', value: {} }),
      notify: () => undefined,
      onNotification: (listener) => void listeners.push((method) => listener(method, undefined, undefined)),
      closed: new Promise((resolve) => {
        exit = resolve;
      }),
      async close() {
        handle.closes += 1;
        exit({ code: null, signal: 'SIGTERM', stderrTail: '' });
      },
    };
  }
  return { opened, script, open };
}

function harness(more: Partial<SupervisedDeps> = {}) {
  const clock = createFakeClock();
  const upstream = fakeUpstream();
  const entries: AuditEntry[] = [];
  const append = (entry: AuditEntry) => ({ id: String(entries.push(entry)) });
  const member = createSupervised({
    name: 'up',
    specDigest: 'd',
    open: upstream.open,
    startTimeoutMs: 1_000,
    sharing: 'shared',
    taskNoticed: () => undefined,
    maxSessions: 2,
    idleStopMs: 600_000,
    updated: () => undefined,
    audit: { append, appendQuietly: append },
    clock,
    entropy: { bytes: (length) => new Uint8Array(length), uuid: () => '' },
    log: silentLog(),
    list: () => Promise.resolve(),
    mask: (text) => text,
    ...more,
  });
  const call = (verify?: () => void) =>
    member.call({
      session: 's',
      method: 'tools/call',
      params: '{}',
      signal,
      timeoutMs: 60_000,
      ...(verify === undefined ? {} : { verify }),
    });
  const code = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'ok',
      (error: AppError) => error.code,
    );
  return { clock, upstream, entries, member, call, code };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a supervised member', () => {
  test('starts once for everybody who waits, and the record has the start before the process', async () => {
    const { upstream, entries, call } = harness();
    upstream.script.open = () => expect(entries.map(({ event }) => event)).toEqual(['upstream.started']);
    expect(await Promise.all([call(), call(), call()])).toEqual([ok, ok, ok]);
    expect(upstream.opened).toHaveLength(1);
  });

  test('without a record there is no process, and that is no failure of the upstream', async () => {
    const append = (): never => {
      throw new AppError('unavailable', 'audit.unavailable', 'Nothing can be recorded now.');
    };
    const { upstream, member, call, code } = harness({ audit: { append, appendQuietly: () => undefined } });
    expect(await code(call())).toBe('audit.unavailable');
    expect(upstream.opened).toHaveLength(0);
    expect(member.view()).toMatchObject({ state: 'stopped', circuit: { failures: 0 } });
  });

  test('[FLEET-3] [FLEET-11] fails fast while open, then lets one probe through that closes it', async () => {
    const { clock, upstream, call, code, member } = harness();
    upstream.script.request = (method) => (method === 'ping' ? Promise.resolve(ok) : Promise.reject(timeout));
    for (let times = 0; times < 5; times += 1) expect(await code(call())).toBe('fleet.timeout');
    expect(await code(call())).toBe('fleet.circuit_open');
    clock.advance(29_999);
    expect(await code(call())).toBe('fleet.circuit_open');
    clock.advance(1);
    let answer: (reply: UpstreamReply) => void = () => undefined;
    upstream.script.request = () => new Promise((resolve) => (answer = resolve));
    const probe = call();
    await turn();
    expect(await code(call())).toBe('fleet.circuit_open');
    expect(member.view().circuit.state).toBe('half_open');
    answer(ok);
    expect(await probe).toEqual(ok);
    upstream.script.request = () => Promise.resolve(ok);
    expect(await call()).toEqual(ok);
    expect(member.view().circuit).toEqual({ state: 'closed', failures: 0 });
    expect(upstream.opened).toHaveLength(1);
  });

  test('[FLEET-3] JSON-RPC errors, isError results and cancellations are no failures', async () => {
    const { upstream, call, code, member } = harness();
    const answers: (() => Promise<UpstreamReply>)[] = [
      () => Promise.resolve({ kind: 'error', json: '{}', code: -32602 }),
      () => Promise.resolve({ kind: 'result', json: '{"isError":true}', value: { isError: true } }),
      () => Promise.reject(new AppError('unavailable', 'fleet.cancelled', 'cancelled', { data: { sent: true } })),
    ];
    for (let times = 0; times < 9; times += 1) {
      upstream.script.request = answers[times % 3]!;
      await code(call());
    }
    expect(member.view().circuit).toEqual({ state: 'closed', failures: 0 });
  });

  test('[FLEET-2] backs off after an exit and answers at once with the time to wait', async () => {
    const { clock, upstream, member, call, code } = harness();
    await call();
    upstream.opened[0]?.exit({ code: 1, signal: null });
    await turn();
    expect(member.view()).toMatchObject({ state: 'backoff', lastError: "Upstream 'up' exited with code 1." });
    expect(await call().catch((error: AppError) => error)).toMatchObject({ code: 'fleet.down', retryAfterMs: 250 });
    clock.advance(250);
    expect(await code(call())).toBe('ok');
    expect(upstream.opened).toHaveLength(2);
  });

  test('a call that certainly was not sent is tried once more, one that may have been sent is not', async () => {
    const { upstream, call, code } = harness();
    await call();
    const script = [unsent, undefined];
    let sent = 0;
    upstream.script.request = () => {
      sent += 1;
      const error = script.shift();
      return error === undefined ? Promise.resolve(ok) : Promise.reject(error);
    };
    expect(await code(call())).toBe('ok');
    expect(sent).toBe(2);
    script.push(new AppError('unavailable', 'fleet.exited', 'The upstream exited.', { data: { sent: true } }), undefined);
    expect(await code(call())).toBe('fleet.exited');
    expect(sent).toBe(3);
  });

  test('a session that ended before a call was written makes it fail as not sent', async () => {
    const { upstream, call } = harness();
    await call();
    upstream.script.request = async () => {
      upstream.opened[0]?.exit({ code: 1, signal: null });
      await turn();
      throw unsent;
    };
    expect(await call().catch((error: AppError) => error)).toMatchObject({ code: 'fleet.down', data: { sent: false } });
  });

  test('one that no longer reads its input is ended and not started again at once', async () => {
    const { upstream, member, call, code } = harness();
    await call();
    upstream.script.request = () =>
      Promise.reject(new AppError('unavailable', 'process.closed', 'closed', { data: { sent: false } }));
    expect(await code(call())).toBe('process.closed');
    expect(upstream.opened[0]?.closes).toBe(1);
    expect(member.view()).toMatchObject({ state: 'backoff', circuit: { failures: 1 } });
    expect(await code(call())).toBe('fleet.down');
  });

  test('what verify says after a start is the answer, and nothing is sent', async () => {
    const { upstream, call, code, member } = harness();
    upstream.script.request = () => expect.unreachable('it was sent');
    const refuse = (): never => {
      throw new AppError('denied', 'fleet.quarantined', 'changed', { data: { sent: false } });
    };
    expect(await code(call(refuse))).toBe('fleet.quarantined');
    expect(member.view()).toMatchObject({ state: 'ready', circuit: { failures: 0 } });
  });

  test('a listing that fails fails the start and ends the process; one that fails later ends the session', async () => {
    let broken = true;
    const list = (): Promise<void> =>
      broken ? Promise.reject(new AppError('unavailable', 'fleet.protocol', 'The upstream lists nonsense.')) : Promise.resolve();
    const { clock, upstream, member, call, code } = harness({ list });
    expect(await call().catch((error: AppError) => error.message)).toBe("Upstream 'up' lists nonsense.");
    expect(upstream.opened[0]?.closes).toBe(1);
    broken = false;
    clock.advance(1_000);
    await call();
    broken = true;
    upstream.opened[1]?.notify('notifications/tools/list_changed');
    await turn();
    expect(upstream.opened[1]?.closes).toBe(1);
    expect(member.view().state).toBe('backoff');
    broken = false;
    clock.advance(30_000);
    expect(await code(call())).toBe('ok');
  });

  test('a caller’s deadline and signal end its wait for a start, not the start', async () => {
    let finish: () => void = () => undefined;
    const { clock, upstream, member, call, code } = harness({ list: () => new Promise((resolve) => (finish = resolve)) });
    const patient = code(call());
    const hasty = code(member.call({ session: 's', method: 'tools/call', params: '{}', signal, timeoutMs: 100 }));
    const abort = new AbortController();
    const leaving = code(
      member.call({ session: 's', method: 'tools/call', params: '{}', signal: abort.signal, timeoutMs: 60_000 }),
    );
    await turn();
    abort.abort();
    clock.advance(100);
    expect(await Promise.all([hasty, leaving])).toEqual(['fleet.timeout', 'fleet.cancelled']);
    finish();
    expect(await patient).toBe('ok');
    expect(upstream.opened).toHaveLength(1);
    expect(member.view().circuit.failures).toBe(0);
  });

  test('a caller that left before it came is turned away, and a start that fails then troubles nobody', async () => {
    const { upstream, member, code } = harness();
    upstream.script.open = () => {
      throw new AppError('unavailable', 'fleet.start_failed', 'The upstream did not start.');
    };
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    expect(
      await code(member.call({ session: 's', method: 'tools/call', params: '{}', signal: AbortSignal.abort(), timeoutMs: 100 })),
    ).toBe('fleet.cancelled');
    await turn();
    await turn();
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
    expect(member.view()).toMatchObject({ state: 'backoff', circuit: { failures: 1 } });
  });

  test('stopping ends the session without a failure, and nothing starts it again', async () => {
    const { upstream, member, call } = harness();
    await call();
    await member.stop();
    expect(upstream.opened[0]?.closes).toBe(1);
    await member.wake();
    expect(upstream.opened).toHaveLength(1);
    expect(member.view()).toMatchObject({ state: 'stopped', circuit: { failures: 0 } });
  });
});
