import { describe, expect, onTestFinished, test } from 'vitest';
import { startHttpFixture } from '../../../test/fixtures/http-server.ts';
import { askedClient } from '../../../test/support/asked-client.ts';
import { acceptAll, callTool, fleetHome, openedFleet, statusOf, textOf, until } from '../../../test/support/fleet-home.ts';
import type { Fleet } from './fleet.ts';
import type { ResourceUpdate } from './model.ts';

const { signal } = new AbortController();
const party = (agent: string, session = `${agent}-1`) => ({ agent, session, host: askedClient(session) });
type Somebody = ReturnType<typeof party>;

const asking = (sharing: string, more: object = {}) => ({ name: 'up', behaviour: 'asking', more: { sharing, ...more } });

async function wishesOf(fleet: Fleet, by: Somebody): Promise<unknown> {
  return JSON.parse(textOf(await callTool(fleet, 'up', 'wishes', {}, by)));
}

function heardBy(fleet: Fleet): Pick<ResourceUpdate, 'session' | 'uri'>[] {
  const heard: Pick<ResourceUpdate, 'session' | 'uri'>[] = [];
  onTestFinished(fleet.onUpdated(({ session, uri }) => heard.push({ session, uri })));
  return heard;
}

const follow = (fleet: Fleet, by: Somebody, uri = 'a:one') => fleet.follow({ upstream: 'up', party: by, uri, signal });

describe('on a process for everybody', () => {
  test('[TWOWAY-29] the most curious level counts, and a resource is followed until the last lets go', async () => {
    const { fleet } = await openedFleet(asking('shared'));
    const [a, b] = [party('a'), party('b')];
    fleet.logLevel('up', a, 'error');
    fleet.logLevel('up', b, 'debug');
    for (const by of [a, b]) expect(await follow(fleet, by)).toMatchObject({ kind: 'result' });
    expect(await wishesOf(fleet, a)).toEqual({ level: 'debug', followed: ['a:one'] });
    fleet.unfollow('up', 'a-1', 'a:one');
    fleet.logLevel('up', b, 'warning');
    expect(await wishesOf(fleet, a)).toEqual({ level: 'warning', followed: ['a:one'] });
    fleet.endSession('b-1');
    expect(await wishesOf(fleet, a)).toEqual({ level: 'error', followed: [] });
    fleet.logLevel('up', a, undefined);
    expect(await wishesOf(fleet, a)).toEqual({ level: 'emergency', followed: [] });
  });

  test('updates are told as of everybody, and what the upstream refuses to follow is not followed', async () => {
    const { fleet } = await openedFleet(asking('shared'));
    const [a, heard] = [party('a'), heardBy(fleet)];
    expect(await follow(fleet, a, 'a:refused')).toMatchObject({ kind: 'error', code: -32602 });
    await follow(fleet, a);
    await callTool(fleet, 'up', 'change', { uri: 'a:one' });
    expect(heard).toEqual([{ session: undefined, uri: 'a:one' }]);
  });

  test('[TWOWAY-28] what was wished for is asked for again when it was killed, and counts as changed', async () => {
    const { fleet } = await openedFleet(asking('shared'));
    const [a, heard] = [party('a'), heardBy(fleet)];
    fleet.logLevel('up', a, 'notice');
    await follow(fleet, a);
    process.kill(statusOf(fleet, 'up')?.pid ?? 0, 'SIGKILL');
    await until(() => statusOf(fleet, 'up')?.state === 'backoff');
    await expect.poll(() => wishesOf(fleet, a).catch(() => undefined)).toEqual({ level: 'notice', followed: ['a:one'] });
    expect(heard).toEqual([{ session: undefined, uri: 'a:one' }]);
  });
});

describe('on a process of one’s own', () => {
  test('[TWOWAY-28] it is started again for who follows, though nobody calls, with all that was wished for', async () => {
    const { fleet } = await openedFleet(asking('session'));
    const [a, b, heard] = [party('a'), party('b'), heardBy(fleet)];
    fleet.logLevel('up', a, 'info');
    for (const [by, uri] of [
      [a, 'a:one'],
      [a, 'a:two'],
      [b, 'a:one'],
    ] as const)
      await follow(fleet, by, uri);
    await callTool(fleet, 'up', 'change', { uri: 'a:one' }, a);
    expect(heard).toEqual([{ session: 'a-1', uri: 'a:one' }]);
    const pid = Number(textOf(await callTool(fleet, 'up', 'pid', {}, a)));
    process.kill(pid, 'SIGKILL');
    await until(() => statusOf(fleet, 'up')?.sessions === 1);
    await until(() => statusOf(fleet, 'up')?.sessions === 2);
    await expect
      .poll(() => heard.slice(1))
      .toEqual([
        { session: 'a-1', uri: 'a:one' },
        { session: 'a-1', uri: 'a:two' },
      ]);
    expect(await wishesOf(fleet, a)).toEqual({ level: 'info', followed: ['a:one', 'a:two'] });
    expect(await wishesOf(fleet, b)).toEqual({ level: null, followed: ['a:one'] });
  });

  test('of an agent updates are told to each of its sessions that follows', async () => {
    const { fleet } = await openedFleet(asking('agent'));
    const [a1, a2, a3, heard] = [party('a'), party('a', 'a-2'), party('a', 'a-3'), heardBy(fleet)];
    for (const by of [a1, a2]) await follow(fleet, by);
    await callTool(fleet, 'up', 'change', { uri: 'a:one' }, a3);
    expect(heard).toEqual([
      { session: 'a-1', uri: 'a:one' },
      { session: 'a-2', uri: 'a:one' },
    ]);
    fleet.endSession('a-1');
    expect(await wishesOf(fleet, a3)).toMatchObject({ followed: ['a:one'] });
    fleet.unfollow('up', 'a-2', 'a:one');
    expect(await wishesOf(fleet, a3)).toMatchObject({ followed: [] });
  });

  test('nothing is started again once its session is over', async () => {
    const { fleet } = await openedFleet(asking('session'));
    const a = party('a');
    await follow(fleet, a);
    const pid = Number(textOf(await callTool(fleet, 'up', 'pid', {}, a)));
    process.kill(pid, 'SIGKILL');
    await until(() => statusOf(fleet, 'up')?.sessions === 0);
    fleet.endSession('a-1');
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(statusOf(fleet, 'up')?.sessions).toBe(0);
  });
});

describe('on a session over HTTP', () => {
  test('[TWOWAY-28] a lost one is begun again with the level that was asked for', async () => {
    const fixture = await startHttpFixture();
    onTestFinished(() => fixture.stop());
    const told: string[] = [];
    fixture.gate = ({ message, headers }) => {
      if (message?.method === 'initialize') {
        const capabilities = { tools: {}, logging: {}, resources: { subscribe: true } };
        const result = { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'x', version: '1' } };
        fixture.counts.initializes += 1;
        const id = `s${fixture.counts.initializes}`;
        fixture.sessions.set(id, { resume: [], answers: [] });
        return { status: 200, headers: { 'mcp-session-id': id }, body: JSON.stringify({ jsonrpc: '2.0', id: message.id, result }) };
      }
      const { method = '', id } = message ?? {};
      const known = fixture.sessions.has(headers['mcp-session-id'] as string);
      if (!known || !/^(?:logging|resources\/subscribe)/.test(method)) return undefined;
      told.push(`${String(headers['mcp-session-id'])} ${method}`);
      return { status: 200, body: JSON.stringify({ jsonrpc: '2.0', id, result: {} }) };
    };
    const home = await fleetHome(
      `upstreams:\n  - ${JSON.stringify({ name: 'up', transport: { kind: 'http', url: fixture.url } })}\n`,
    );
    const fleet = await home.open();
    await acceptAll(fleet);
    const a = party('a');
    await callTool(fleet, 'up', 'echo', {}, a);
    const mine = `s${fixture.counts.initializes}`;
    fleet.logLevel('up', a, 'info');
    await follow(fleet, a);
    expect(told.toSorted()).toEqual([`${mine} logging/setLevel`, `${mine} resources/subscribe`]);
    fixture.forget();
    await callTool(fleet, 'up', 'echo', {}, a);
    await expect.poll(() => told.length).toBe(4);
    const [level, followed] = told.slice(2).toSorted();
    expect([level?.split(' ')[1], followed?.split(' ')[1]]).toEqual(['logging/setLevel', 'resources/subscribe']);
    expect(level?.split(' ')[0]).not.toBe(mine);
  });
});
