// What one upstream offers, read from a connection that answers as a test tells it to.
import { expect, test } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { silentLog } from '../../../test/support/silent-log.ts';
import type { UpstreamConnection, UpstreamReply } from '../../kernel/ports.ts';
import { createDigest } from '../../platform/crypto.ts';
import { createOffers } from './offers.ts';

type Answers = Record<string, string | number>;

/** A text is the result of the method, a number the code of its error. */
function connectionOf(answers: Answers): UpstreamConnection & { notice(method: string): void } {
  const listeners: ((method: string, params: undefined, text: undefined) => void)[] = [];
  return {
    protocolVersion: '2025-11-25',
    capabilities: { prompts: {}, resources: {} },
    serverInfo: {},
    request: (method) => Promise.resolve(replyOf(answers[method] ?? -32601)),
    subscribe: () => Promise.resolve({ kind: 'result', json: '{}', value: {} }),
    unsubscribe: () => Promise.resolve({ kind: 'result', json: '{}', value: {} }),
    notify: () => undefined,
    onNotification: (listener) => void listeners.push(listener),
    notice: (method) => listeners.forEach((listener) => listener(method, undefined, undefined)),
    closed: new Promise(() => undefined),
    close: () => Promise.resolve(),
  };
}

function replyOf(answer: string | number): UpstreamReply {
  if (typeof answer === 'number') return { kind: 'error', code: answer, json: '{}' };
  return { kind: 'result', json: answer, value: JSON.parse(answer) as Extract<UpstreamReply, { kind: 'result' }>['value'] };
}

function make() {
  const changes: string[] = [];
  const deps = { upstream: 'up', clock: createFakeClock(), digest: createDigest(), log: silentLog() };
  const offers = createOffers({ ...deps, changed: (kind) => void changes.push(kind) });
  return { offers, changes };
}

test('[REL-1] entries are kept as they were sent, each key once; one that two readers would read differently is left out', async () => {
  const { offers, changes } = make();
  const good = '{ "name":"a", "x":1.0 }';
  const bad = ['{"name":"a","x":2}', '{"name":"b","name":"c"}', '{"title":"d"}', '{"name":""}', '7'];
  await offers.follow(connectionOf({ 'prompts/list': `{"prompts":[${[good, ...bad].join(',')}]}` }), 1_000);
  expect(offers.of('prompts')).toMatchObject([{ upstream: 'up', key: 'a', text: good }]);
  expect(changes).toEqual(['prompts']);
});

test('[REL-1] a list the upstream has no method for is empty, and the others stand', async () => {
  const { offers } = make();
  await offers.follow(connectionOf({ 'resources/list': '{"resources":[{"uri":"a:b","name":"n"}]}' }), 1_000);
  expect(offers.of('resources').map(({ key }) => key)).toEqual(['a:b']);
  expect(offers.of('resourceTemplates')).toEqual([]);
  expect(offers.declares('resources')).toBe(true);
  expect(offers.declares('completions')).toBe(false);
});

test('[REL-9] a list that fails after a notice keeps its last state, and one that is the same changes nothing', async () => {
  const { offers, changes } = make();
  const answers: Answers = { 'prompts/list': '{"prompts":[{"name":"a"}]}' };
  const connection = connectionOf(answers);
  await offers.follow(connection, 1_000);
  answers['prompts/list'] = -32603;
  connection.notice('notifications/prompts/list_changed');
  await new Promise(setImmediate);
  expect(offers.of('prompts').map(({ key }) => key)).toEqual(['a']);
  expect(changes).toEqual(['prompts']);
});

test('[REL-9] a session that was replaced has no say any more', async () => {
  const { offers, changes } = make();
  const answers: Answers = { 'prompts/list': '{"prompts":[{"name":"a"}]}' };
  const before = connectionOf(answers);
  await offers.follow(before, 1_000);
  await offers.follow(connectionOf({ 'prompts/list': '{"prompts":[{"name":"b"}]}' }), 1_000);
  before.notice('notifications/prompts/list_changed');
  await new Promise(setImmediate);
  expect(offers.of('prompts').map(({ key }) => key)).toEqual(['b']);
  expect(changes).toEqual(['prompts', 'prompts']);
});
