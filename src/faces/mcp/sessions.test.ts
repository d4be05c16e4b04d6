import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { createFakeAgents, quiet } from '../../../test/support/agent-door.ts';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { createFakeDispatch } from '../../../test/support/fake-dispatch.ts';
import type { ClientHost } from '../../kernel/client-host.ts';
import type { ToolScope } from '../../kernel/dispatch.ts';
import { createEntropy } from '../../platform/crypto.ts';
import { era2025 } from '../../wire/era-2025.ts';
import { createMcpEndpoint } from './endpoint.ts';
import type { CallInFlight, NoticeStream } from './in-flight.ts';
import { createSessions, type Handshake, type Session, type SessionLimits, type Sessions } from './sessions.ts';

const all: ToolScope = { kind: 'all' };
const stream: NoticeStream = { send: () => undefined, offer: () => true, keepAlive: () => undefined, end: () => undefined };
const call: CallInFlight = {
  id: 1,
  progressToken: undefined,
  abort: new AbortController(),
  slot: { streams: true, notice: () => true, keepAlive: () => undefined, answer: () => undefined, abandon: () => undefined },
};

function make(limits: Partial<SessionLimits> = {}): {
  sessions: Sessions;
  ended: string[];
  clock: ReturnType<typeof createFakeClock>;
} {
  const clock = createFakeClock();
  const ended: string[] = [];
  const sessions = createSessions({
    clock,
    entropy: createEntropy(),
    limits: { perAgent: 3, total: 5, idleMs: 1_000, ...limits },
    offering: nothing,
    hostOf: () => host,
    onEnd: (session) => ended.push(session.id),
  });
  return { sessions, ended, clock };
}

const nothing = () => ({ prompts: false, resources: false, completions: false, logging: false, subscriptions: false });

const host: ClientHost = {
  capabilities: {},
  info: undefined,
  ask: () => Promise.reject(new Error('nobody')),
  notify: () => undefined,
};
const handshake: Handshake = { era: era2025, version: '2025-11-25', client: { capabilities: {}, info: undefined } };

function opened(sessions: Sessions, agent = 'kimi'): Session {
  const session = sessions.open(agent, all, handshake);
  if (session === undefined) throw new Error('no room');
  return session;
}

test('[DOOR-1] the session used least recently makes room for a new one of the same agent', () => {
  const { sessions, ended, clock } = make();
  const [first, second] = [opened(sessions), opened(sessions), opened(sessions)];
  clock.advance(10);
  sessions.find(first.id, 'kimi', all);
  opened(sessions);
  expect(ended).toEqual([second.id]);
  expect(sessions.size()).toBe(3);
});

test('a session with a call is never taken for room, one with a stream only when all have one', () => {
  const { sessions, ended } = make();
  const [busy, listening, idle] = [opened(sessions), opened(sessions), opened(sessions)];
  busy.calls.set(1, call);
  listening.stream = stream;
  opened(sessions).calls.set(1, call);
  expect(ended).toEqual([idle.id]);
  opened(sessions).calls.set(1, call);
  expect(ended).toEqual([idle.id, listening.id]);
  expect(sessions.open('kimi', all, handshake)).toBeUndefined();
  expect(sessions.open('rosa', all, handshake)).toBeDefined();
});

test('the total is bounded over all agents', () => {
  const { sessions } = make();
  for (let turn = 0; turn < 50; turn += 1) opened(sessions, `agent-${turn}`);
  expect(sessions.size()).toBe(5);
});

test('an idle session ends, one that is used, listens or has a call does not', () => {
  const { sessions, ended, clock } = make();
  const [idle, used, listening] = [opened(sessions), opened(sessions), opened(sessions)];
  const busy = opened(sessions, 'rosa');
  listening.stream = stream;
  busy.calls.set(1, call);
  clock.advance(600);
  sessions.find(used.id, 'kimi', all);
  clock.advance(600);
  sessions.endIdle();
  expect(ended).toEqual([idle.id]);
});

test('[DOOR-12] all sessions of an agent end together, those of others stay', () => {
  const { sessions, ended } = make();
  const mine = [opened(sessions), opened(sessions)].map(({ id }) => id);
  opened(sessions, 'rosa');
  sessions.endAgent('kimi');
  expect(ended).toEqual(mine);
  expect(sessions.size()).toBe(1);
});

test('[DOOR-1] [TWOWAY-5] 30,000 sessions opened and closed leave nothing behind, nor what they asked and followed', async () => {
  const clock = createFakeClock();
  const dispatch = createFakeDispatch();
  const endpoint = createMcpEndpoint({
    dispatch,
    agents: createFakeAgents(),
    clock,
    entropy: createEntropy(),
    log: quiet,
    serverInfo: { name: 'sallyport', version: '0' },
    instructions: '',
  });
  const request = { kind: 'request', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } } as const;
  const subscribe = { kind: 'request', id: 2, method: 'resources/subscribe', params: { uri: 'a:b' } } as const;
  const signal = new AbortController();
  let gone = 0;
  const cycle = (turn: number): void => {
    const { session } = endpoint.initialize(`agent-${turn % 500}`, all, request);
    if (session === undefined) throw new Error('no room');
    const early = session.host.ask({ method: 'roots/list', params: undefined, signal: signal.signal });
    endpoint.listen(session, stream);
    endpoint.request(session, subscribe, call.slot);
    const late = session.host.ask({ method: 'ping', params: '{}', signal: new AbortController().signal });
    for (const asked of [early, late]) asked.catch(() => void (gone += 1));
    endpoint.end(session);
    dispatch.ended.length = 0;
    dispatch.followed.length = 0;
  };
  const cycles = async (count: number): Promise<void> => {
    for (let turn = 0; turn < count; turn += 1) {
      cycle(turn);
      if (turn % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
  };
  await cycles(2_000);
  const before = process.memoryUsage().heapUsed;
  await cycles(30_000);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(3_000_000);
  expect(gone).toBe(64_000);
  expect(endpoint.size()).toBe(0);
  expect(clock.pending()).toBe(0);
  expect(dispatch.listeners()).toBe(1);
});

/** Without it the figure says when the engine last felt like collecting. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

test('sessions opened and forgotten are bounded, idle ones go, and the timer goes with the last', () => {
  const clock = createFakeClock();
  const endpoint = createMcpEndpoint({
    dispatch: createFakeDispatch(),
    agents: createFakeAgents(),
    clock,
    entropy: createEntropy(),
    log: quiet,
    serverInfo: { name: 'sallyport', version: '0' },
    instructions: '',
    sessionLimits: { perAgent: 10, total: 100, idleMs: 60_000 },
  });
  const request = { kind: 'request', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } } as const;
  for (let turn = 0; turn < 1_000; turn += 1) endpoint.initialize('kimi', all, request);
  expect(endpoint.size()).toBe(10);
  expect(clock.pending()).toBe(1);
  clock.advance(200_000);
  expect(endpoint.size()).toBe(0);
  expect(clock.pending()).toBe(0);
});
