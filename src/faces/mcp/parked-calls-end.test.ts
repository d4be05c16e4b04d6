// What ends a call of 2026-07-28 that waits for its client, and what does not; and how many may wait.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ask } from '../../../test/support/agent-door.ts';
import {
  accept,
  form,
  heard,
  meta,
  openParkingDoor,
  refused,
  stateOf,
  type ParkingDoor,
} from '../../../test/support/parking-door.ts';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { statelessBody, statelessHeaders } from '../../../test/support/stateless-agent.ts';
import { maxParked, parkedMs } from './parked-calls.ts';

let up: ParkingDoor;

beforeEach(async () => {
  up = await openParkingDoor();
});

afterEach(() => up.door.close());

test('[PARK-5] [DOOR-12] when the agent is suspended, revoked or rotated, whoever asked is told and the call is cancelled', async () => {
  const state = stateOf(await up.call());
  stateOf(await up.call({}, { token: 'token-rosa' }));
  up.door.agents.ended('kimi');
  await expect.poll(() => up.got).toMatchObject([{ gone: 'host.gone' }]);
  await expect.poll(() => up.door.dispatch.cancelled).toEqual([1]);
  expect(up.door.endpoint.stateless.parked()).toBe(1);
  expect((await up.again(state)).reply).toMatchObject(refused);
  expect(up.runs).toBe(2);
});

/** An upstream that goes on without what it asked for, and never ends by itself. */
function goesOn(): void {
  up.door.dispatch.tools_.set('up__sure', (asked, caller) => {
    up.runs += 1;
    return up.put(asked, 'elicitation/create', form).then(heard, () => up.door.dispatch.tools_.get('up__hangs')!(asked, caller));
  });
}

test('[PARK-5] a gateway that stops does not wait for clients to come back', async () => {
  goesOn();
  const state = stateOf(await up.call());
  const before = Date.now();
  const closed = up.door.endpoint.close(30_000);
  expect((await up.again(state)).reply.error?.message).toContain('stopping');
  await closed;
  expect(Date.now() - before).toBeLessThan(5_000);
  expect(up.got).toMatchObject([{ gone: 'host.gone', message: expect.stringContaining('stopping') as string }]);
  expect(up.door.dispatch.cancelled).toEqual([1]);
});

test('[PARK-5] a call that asks while the gateway stops is told that nobody can be asked', async () => {
  let go: (() => void) | undefined;
  up.door.dispatch.tools_.set('up__sure', async (asked) => {
    await new Promise<void>((resolve) => (go = resolve));
    return heard(await up.put(asked, 'elicitation/create', form).catch(() => ({ kind: 'error', code: 1, json: '"nobody"' })));
  });
  const pending = up.call();
  await expect.poll(() => go).toBeDefined();
  const closed = up.door.endpoint.close(30_000);
  go?.();
  expect((await pending).reply.result).toMatchObject({ 'x-heard': 'nobody' });
  await closed;
});

test('[PARK-5] after ten minutes the question is over and with it the call, however often the client came with nothing', async () => {
  await up.door.close();
  const clock = createFakeClock();
  up = await openParkingDoor({ clock });
  goesOn();
  const state = stateOf(await up.call());
  clock.advance(parkedMs - 1);
  expect((await up.again(state, {})).reply).toMatchObject(refused);
  expect(up.door.endpoint.stateless.parked()).toBe(1);
  clock.advance(1);
  await expect.poll(() => up.door.dispatch.cancelled).toEqual([1]);
  expect(up.got).toMatchObject([{ gone: 'host.gone' }]);
  expect((await up.again(state)).reply).toMatchObject(refused);
  expect([up.runs, up.door.endpoint.stateless.parked()]).toEqual([1, 0]);
});

test('[PARK-5] 64 calls of an agent wait at most: whoever asks one more is refused, and there is room when one went on', async () => {
  const states: string[] = [];
  for (let turn = 0; turn < maxParked; turn += 1) states.push(stateOf(await up.call()));
  expect(up.door.endpoint.stateless.parked()).toBe(maxParked);
  await up.call();
  expect(up.got).toMatchObject([{ gone: 'host.gone', message: expect.stringContaining('64') as string }]);
  stateOf(await up.call({}, { token: 'token-rosa' }));
  expect((await up.again(states[5]!)).reply.result).toMatchObject({ 'x-heard': accept });
  stateOf(await up.call());
});

test('[PARK-6] closing the connection that was answered ends nothing, closing the one that carries the call cancels it', async () => {
  let finish: (() => void) | undefined;
  up.door.dispatch.tools_.set('up__sure', async (asked) => {
    await up.put(asked, 'elicitation/create', form);
    return new Promise((resolve) => (finish = () => resolve({ kind: 'upstream', result: '{"content":[]}' })));
  });
  // `ask` closes its connection when it has its answer.
  const state = stateOf(await up.call());
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(up.door.dispatch.cancelled).toEqual([]);
  const params = {
    name: 'up__sure',
    arguments: { n: 1 },
    _meta: meta(),
    requestState: state,
    inputResponses: { 'ask-1': accept },
  };
  const leave = new AbortController();
  const second = ask(up.door, {
    headers: statelessHeaders('tools/call', params),
    body: statelessBody(2, 'tools/call', params),
    signal: leave.signal,
  });
  await expect.poll(() => finish).toBeDefined();
  leave.abort();
  await expect(second).rejects.toThrow(/abort/i);
  await expect.poll(() => up.door.dispatch.cancelled).toEqual([1]);
});

test('[PARK-6] 500 calls that were asked and answered leave nothing behind', async () => {
  for (let turn = 0; turn < 500; turn += 1) {
    const answer = await up.again(
      stateOf(await up.call()),
      turn % 2 === 0 ? { 'ask-1': accept } : { 'ask-1': { action: 'decline' } },
    );
    expect(answer.reply.result).toMatchObject({ resultType: 'complete' });
  }
  expect(up.door.endpoint.stateless.parked()).toBe(0);
  await up.door.endpoint.close(1_000);
  expect(up.door.dispatch.cancelled).toEqual([]);
});
