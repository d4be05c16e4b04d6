import { expect, test } from 'vitest';
import { createFakeAgents, quiet } from '../../../test/support/agent-door.ts';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { createFakeDispatch } from '../../../test/support/fake-dispatch.ts';
import type { ToolScope } from '../../kernel/dispatch.ts';
import { createEntropy } from '../../platform/crypto.ts';
import { era2025 } from '../../wire/era-2025.ts';
import { createMcpEndpoint } from './endpoint.ts';
import type { CallInFlight, NoticeStream } from './in-flight.ts';
import { createSessions, type Session, type SessionLimits, type Sessions } from './sessions.ts';

const all: ToolScope = { kind: 'all' };
const stream: NoticeStream = { send: () => undefined, keepAlive: () => undefined, end: () => undefined };
const call: CallInFlight = {
  id: 1,
  progressToken: undefined,
  abort: new AbortController(),
  slot: { notice: () => undefined, answer: () => undefined, abandon: () => undefined },
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
    onEnd: (session) => ended.push(session.id),
  });
  return { sessions, ended, clock };
}

const nothing = () => ({ prompts: false, resources: false, completions: false, logging: false, subscriptions: false });

function opened(sessions: Sessions, agent = 'kimi'): Session {
  const session = sessions.open(agent, all, era2025, nothing);
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
  expect(sessions.open('kimi', all, era2025, nothing)).toBeUndefined();
  expect(sessions.open('rosa', all, era2025, nothing)).toBeDefined();
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

test('[DOOR-1] 30,000 sessions opened and closed leave nothing behind', () => {
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
  const cycle = (turn: number): void => {
    const { session } = endpoint.initialize(`agent-${turn % 500}`, all, request);
    if (session === undefined) throw new Error('no room');
    endpoint.listen(session, stream);
    endpoint.end(session);
  };
  for (let turn = 0; turn < 2_000; turn += 1) cycle(turn);
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  for (let turn = 0; turn < 30_000; turn += 1) cycle(turn);
  globalThis.gc?.();
  expect(endpoint.size()).toBe(0);
  expect(clock.pending()).toBe(0);
  expect(dispatch.listeners()).toBe(1);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(30_000_000);
});

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
