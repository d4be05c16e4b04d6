import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { askedClient, type AskedClient } from '../../../test/support/asked-client.ts';
import {
  acceptAll,
  callTool,
  failure,
  fleetHome,
  openedFleet,
  operate,
  settingsText,
  statusOf,
  textOf,
  until,
} from '../../../test/support/fleet-home.ts';
import { processTable } from '../../platform/process-table.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Fleet } from './fleet.ts';

const asking = (sharing: string, more: object = {}) => ({ name: 'up', behaviour: 'asking', more: { sharing, ...more } });

interface Who {
  readonly agent: string;
  readonly session: string;
  readonly host: AskedClient;
}

const who = (agent: string, session = `${agent}-1`): Who => ({ agent, session, host: askedClient(session) });

async function say(fleet: Fleet, by: Who, tool: string, args: JsonObject = {}): Promise<string> {
  return textOf(await callTool(fleet, 'up', tool, args, by));
}

const lives = (pid: number | string): boolean => processTable().some((row) => row.pid === Number(pid));

describe('an upstream shared by session', () => {
  test('[SHARE-2] [TWOWAY-20] has a process for each, which is told of its client and asks that one alone', async () => {
    const { fleet } = await openedFleet(asking('session'));
    const sessions = [who('kimi'), who('kimi', 'kimi-2'), who('claude')];
    const pids = await Promise.all(sessions.map((by) => say(fleet, by, 'pid')));
    expect(new Set([...pids, String(statusOf(fleet, 'up')?.pid)]).size).toBe(4);
    expect(statusOf(fleet, 'up')).toMatchObject({ sharing: 'session', sessions: 3, state: 'ready' });
    const answers = await Promise.all(
      sessions.map((by, at) => say(fleet, by, 'ask', { method: 'sampling/createMessage', ms: 30 * (3 - at) })),
    );
    expect(answers).toEqual(sessions.map(({ session }) => JSON.stringify({ by: session })));
    expect(sessions.map(({ host }) => host.asked.length)).toEqual([1, 1, 1]);
    expect(JSON.parse(await say(fleet, sessions[2]!, 'told'))).toMatchObject({
      clientInfo: { name: 'claude-1' },
      capabilities: { sampling: {} },
    });
  });

  test('[TWOWAY-20] asks its client also when nobody calls', async () => {
    const { fleet } = await openedFleet(asking('session'));
    const [a, b] = [who('a'), who('b')];
    await say(fleet, b, 'pid');
    await say(fleet, a, 'ask_later', { method: 'roots/list' });
    await expect.poll(() => say(fleet, a, 'answers')).toBe('[{"by":"a-1"}]');
    expect(b.host.asked).toEqual([]);
  });

  test('[SHARE-3] one of three that is killed or crashes hurts neither the others nor the list', async () => {
    const { fleet, home } = await openedFleet(asking('session'));
    const [a, b, c] = [who('a'), who('b'), who('c')];
    const [pidA, pidB, pidC] = [await say(fleet, a, 'pid'), await say(fleet, b, 'pid'), await say(fleet, c, 'pid')];
    const main = statusOf(fleet, 'up')?.pid;
    const hanging = failure(say(fleet, a, 'hang'));
    const working = say(fleet, b, 'ask', { method: 'roots/list', ms: 300 });
    process.kill(Number(pidA), 'SIGKILL');
    expect(await hanging).toMatchObject({ code: 'fleet.exited', data: { sent: true } });
    expect(await working).toBe('{"by":"b-1"}');
    expect(await failure(say(fleet, c, 'crash'))).toMatchObject({ code: 'fleet.exited' });
    expect(await say(fleet, b, 'pid')).toBe(pidB);
    expect(statusOf(fleet, 'up')).toMatchObject({ pid: main, state: 'ready', circuit: 'closed', restarts: 0, sessions: 1 });
    const exits = home.audit.entries.filter(({ event }) => event === 'upstream.exited');
    expect(exits.map(({ facts }) => facts?.['agent'])).toEqual(['a', 'c']);
    expect(statusOf(fleet, 'up')?.error).toBe("The process of upstream 'up' for c exited with code 7.");
    expect(JSON.stringify([home.audit.entries, statusOf(fleet, 'up')])).not.toContain('c-1');
    // Its own wait is its own trouble, and over soon.
    await expect.poll(() => say(fleet, a, 'pid').catch(() => pidA), { timeout: 3_000 }).not.toBe(pidA);
    await expect.poll(() => say(fleet, c, 'pid').catch(() => pidC), { timeout: 3_000 }).not.toBe(pidC);
    expect(statusOf(fleet, 'up')?.error).toBeUndefined();
  });

  test('[SHARE-3] the main process that is killed ends no other, and its calls go on', async () => {
    const { fleet } = await openedFleet(asking('session'));
    const a = who('a');
    const pid = await say(fleet, a, 'pid');
    process.kill(statusOf(fleet, 'up')?.pid ?? 0, 'SIGKILL');
    await until(() => statusOf(fleet, 'up')?.state === 'backoff');
    expect(await say(fleet, a, 'pid')).toBe(pid);
  });

  test('[SHARE-3] one that does not start is tried again in its own time, while others work', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sallyport-sharing-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'down');
    const { fleet } = await openedFleet({ name: 'up', behaviour: 'down-while', args: [file], more: { sharing: 'session' } });
    const [a, b] = [who('a'), who('b')];
    await say(fleet, b, 'echo', { message: 'before' });
    writeFileSync(file, 'down');
    expect(await failure(say(fleet, a, 'echo'))).toMatchObject({ code: 'fleet.start_failed', data: { sent: false } });
    const waiting = await failure(say(fleet, a, 'echo'));
    expect(waiting).toMatchObject({ code: 'fleet.down' });
    expect(waiting.retryAfterMs).toBeGreaterThan(0);
    expect(statusOf(fleet, 'up')).toMatchObject({ state: 'ready', circuit: 'closed' });
    // Its call removes the file.
    expect(await say(fleet, b, 'echo', { message: 'still here' })).toBe('still here');
    await expect.poll(() => say(fleet, a, 'echo', { message: 'up' }).catch(() => 'down'), { timeout: 3_000 }).toBe('up');
  });

  test('[SHARE-3] one that never answers is left alone for its agent, while others work', async () => {
    const { fleet } = await openedFleet(asking('session', { callTimeoutMs: 500 }));
    const [a, b] = [who('a'), who('b')];
    // A start may take longer than a call.
    for (const by of [a, b]) await expect.poll(() => say(fleet, by, 'pid').catch(() => ''), { timeout: 10_000 }).not.toBe('');
    const pid = await say(fleet, b, 'pid');
    await Promise.all(Array.from({ length: 5 }, () => failure(say(fleet, a, 'hang'))));
    expect(await failure(say(fleet, a, 'pid'))).toMatchObject({ code: 'fleet.circuit_open' });
    expect(await say(fleet, b, 'pid')).toBe(pid);
    expect(statusOf(fleet, 'up')).toMatchObject({ state: 'ready', circuit: 'closed' });
  });

  test('[SHARE-4] has a bound, and a place is free when a session is over', async () => {
    const { fleet } = await openedFleet(asking('session', { maxSessions: 2 }));
    const [a, b, c] = [who('a'), who('b'), who('c')];
    const pid = await say(fleet, a, 'pid');
    await say(fleet, b, 'pid');
    expect(await failure(say(fleet, c, 'pid'))).toMatchObject({ code: 'fleet.overloaded', data: { capacity: 2 } });
    fleet.endSession('a-1');
    await say(fleet, c, 'pid');
    expect(lives(pid)).toBe(false);
  });

  test('[SHARE-4] ends one that idles, and none that is called, asked or listened to', async () => {
    const { fleet } = await openedFleet(asking('session', { idleStopMs: 1_000 }));
    const [idle, asked, following, calling] = [who('idle'), who('asked'), who('following'), who('calling')];
    const pids = await Promise.all([idle, asked, following, calling].map((by) => say(fleet, by, 'pid')));
    asked.host.answer = () => new Promise(() => undefined);
    await say(fleet, asked, 'ask_later', { method: 'elicitation/create' });
    const { signal } = new AbortController();
    await fleet.follow({ upstream: 'up', party: following, uri: 'a:one', signal });
    const stop = new AbortController();
    const hanging = failure(callTool(fleet, 'up', 'hang', {}, { ...calling, signal: stop.signal }));
    await expect.poll(() => pids.map(lives), { timeout: 8_000 }).toEqual([false, true, true, true]);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(pids.map(lives)).toEqual([false, true, true, true]);
    fleet.unfollow('up', 'following-1', 'a:one');
    stop.abort();
    await hanging;
    await expect.poll(() => pids.map(lives), { timeout: 8_000 }).toEqual([false, true, false, false]);
    expect(await say(fleet, idle, 'pid')).not.toBe(pids[0]);
  });

  test('[SHARE-5] no process is left when its session, or the fleet, is over', async () => {
    const { fleet } = await openedFleet(asking('session'));
    const sessions = Array.from({ length: 6 }, (_, at) => who(`s${at}`));
    const pids = await Promise.all(sessions.map((by) => say(fleet, by, 'pid')));
    for (const { session } of sessions.slice(0, 3)) fleet.endSession(session);
    await expect.poll(() => pids.map(lives), { timeout: 5_000 }).toEqual([false, false, false, true, true, true]);
    const main = statusOf(fleet, 'up')?.pid ?? 0;
    const starting = say(fleet, who('late'), 'pid').catch(() => 'ended');
    await fleet.close();
    await starting;
    expect([...pids, main].map(lives)).toEqual(Array.from({ length: 7 }, () => false));
  });
});

describe('an upstream shared by agent', () => {
  test('[SHARE-2] has a process for each agent, whatever their sessions', async () => {
    const { fleet } = await openedFleet(asking('agent'));
    const [a1, a2, b1] = [who('a'), who('a', 'a-2'), who('b')];
    const [first, second, other] = [await say(fleet, a1, 'pid'), await say(fleet, a2, 'pid'), await say(fleet, b1, 'pid')];
    expect(second).toBe(first);
    expect(other).not.toBe(first);
    expect(statusOf(fleet, 'up')).toMatchObject({ sharing: 'agent', sessions: 2 });
    fleet.endSession('a-1');
    expect(await say(fleet, a2, 'pid')).toBe(first);
  });

  test('[SHARE-6] with two agents in flight each of them is asked by its own', async () => {
    const { fleet } = await openedFleet(asking('agent'));
    const [a, b] = [who('a'), who('b')];
    expect(await Promise.all([a, b].map((by) => say(fleet, by, 'ask', { method: 'elicitation/create', ms: 100 })))).toEqual([
      '{"by":"a-1"}',
      '{"by":"b-1"}',
    ]);
  });

  test('[SHARE-6] with two sessions of one agent in flight neither is asked, and a sole one is', async () => {
    const { fleet } = await openedFleet(asking('agent'));
    const [a1, a2] = [who('a'), who('a', 'a-2')];
    const both = await Promise.all([a1, a2].map((by) => say(fleet, by, 'ask', { method: 'roots/list', ms: 150 })));
    for (const answer of both) expect(answer).toContain('cannot be told whose call this is about');
    expect([...a1.host.asked, ...a2.host.asked]).toEqual([]);
    expect(await say(fleet, a2, 'ask', { method: 'roots/list' })).toBe('{"by":"a-2"}');
    expect(await say(fleet, a1, 'ask', { method: 'roots/list' })).toBe('{"by":"a-1"}');
  });

  test('[SHARE-6] what it asks while nobody calls goes to the only client it ever had, and to nobody once it had two', async () => {
    const { fleet } = await openedFleet(asking('agent'));
    const [a1, a2] = [who('a'), who('a', 'a-2')];
    await say(fleet, a1, 'ask_later', { method: 'roots/list' });
    await expect.poll(() => say(fleet, a1, 'answers')).toBe('[{"by":"a-1"}]');
    await say(fleet, a2, 'ask_later', { method: 'roots/list' });
    await expect.poll(async () => JSON.parse(await say(fleet, a2, 'answers')) as unknown[]).toHaveLength(2);
    expect(await say(fleet, a2, 'answers')).toContain('cannot be told');
    expect([a1.host.asked.length, a2.host.asked.length]).toEqual([1, 0]);
  });
});

describe('an upstream for everybody', () => {
  test('[TWOWAY-25] [TWOWAY-24] is told of nobody and asks nobody, but what it logs reaches a sole caller', async () => {
    const { fleet } = await openedFleet(asking('shared'));
    const [a, b] = [who('a'), who('b')];
    expect(await say(fleet, a, 'pid')).toBe(await say(fleet, b, 'pid'));
    expect(await say(fleet, a, 'ask', { method: 'elicitation/create' })).toContain('-32601');
    await say(fleet, a, 'log', { data: 1 });
    await Promise.all([a, b].map((by) => say(fleet, by, 'log', { data: 2, ms: 100 })));
    expect([a.host.asked, b.host.asked]).toEqual([[], []]);
    expect(a.host.told).toContainEqual(['notifications/message', '{"level":"info","data":1}']);
    expect(b.host.told.map(([, params]) => params)).not.toContain('{"level":"info","data":1}');
  });
});

describe('[SHARE-1] how an upstream is shared', () => {
  test('is part of what is signed: another choice in the file is another upstream', async () => {
    const home = await fleetHome(settingsText(asking('shared')));
    const fleet = await home.open();
    await acceptAll(fleet);
    expect(statusOf(fleet, 'up')?.sharing).toBeUndefined();
    home.writeSettings(settingsText(asking('session')));
    await fleet.reload();
    expect(statusOf(fleet, 'up')).toMatchObject({ state: 'unaccepted' });
  });

  test('is said when an upstream is added, and shown', async () => {
    const home = await fleetHome();
    const fleet = await home.open();
    const command = (settingsText(asking('shared')).match(/"command":"([^"]+)","args":\["([^"]+)"/) ?? []).slice(1);
    const added = { name: 'up', run: [...command, 'asking'], sharing: 'agent', maxSessions: 3 };
    const { shown } = await operate(fleet, 'fleet.add', added);
    expect(shown).toMatchObject({ runs: { sharing: 'agent' } });
    expect(home.settings()).toContain('sharing: agent');
    expect(home.settings()).toContain('maxSessions: 3');
    const { output } = await operate(fleet, 'fleet.list', {});
    expect(output).toMatchObject([{ name: 'up', sharing: 'agent', sessions: 0 }]);
  });

  test('is no choice over HTTP, where the upstream says it', async () => {
    const home = await fleetHome();
    const fleet = await home.open();
    const added = { name: 'up', url: 'http://127.0.0.1:9/mcp', sharing: 'session' };
    expect(await failure(operate(fleet, 'fleet.add', added))).toMatchObject({
      code: 'fleet.bad_spec',
      message: expect.stringContaining('sharing is for programs') as string,
    });
  });
});

test('[FLEET-4] whoever adds an upstream that does not start is shown what it said last', async () => {
  const home = await fleetHome();
  const fleet = await home.open();
  onTestFinished(() => fleet.close());
  const command = (settingsText(asking('shared')).match(/"command":"([^"]+)","args":\["([^"]+)"/) ?? []).slice(1);
  const { output } = await operate(fleet, 'fleet.add', { name: 'up', run: [...command, 'exit-at-once', '3'] });
  expect(output).toMatchObject({ connection: { ok: false, stderr: 'fatal: no configuration found' } });
});
