import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { oddResult } from '../../../test/fixtures/odd-result.ts';
import {
  acceptAll,
  callTool,
  failure,
  fleetHome,
  openedFleet,
  settingsText,
  statusOf,
  textOf,
  until,
} from '../../../test/support/fleet-home.ts';
import { startTimeOf } from '../../platform/process-table.ts';
import type { Fleet, FleetControl } from './fleet.ts';

const signal = new AbortController().signal;

describe('a fleet', () => {
  test('lists accepted tools in order under prefixed names, byte for byte but for the name', async () => {
    const { fleet } = await openedFleet({ name: 'zeta' }, { name: 'alpha', behaviour: 'progress-burst' });
    const names = fleet.catalog().map(({ name }) => name);
    expect(names).toEqual(names.toSorted());
    expect(names).toContain('zeta__echo');
    const echo = fleet.catalog().find(({ name }) => name === 'zeta__echo');
    expect(echo).toMatchObject({ capability: 'zeta:call:echo', annotations: { readOnlyHint: true, title: 'Echo' } });
    expect(echo?.listed).toBe(echo?.definition.replace('"name":"echo"', '"name":"zeta__echo"'));
    expect(echo?.listed).toContain('"x-vendor":{"kept":1}');
  });

  test('[DOOR-11] calls give the upstream’s bytes, errors and isError as they are', async () => {
    const { fleet } = await openedFleet({ name: 'up' });
    expect(await callTool(fleet, 'up', 'odd')).toMatchObject({ kind: 'result', json: oddResult, isError: false });
    expect(await callTool(fleet, 'up', 'fails')).toMatchObject({ kind: 'result', isError: true });
    expect(await callTool(fleet, 'up', 'refuses')).toMatchObject({ kind: 'error', code: -32602 });
  });

  test('what goes upstream is the own name, the arguments and the rest of the params, and a progress token only when asked for', async () => {
    const { fleet } = await openedFleet({ name: 'up' });
    const found = fleet.resolve('up', 'params');
    if (found.kind !== 'tool') throw new Error('no tool');
    const rest = { _meta: { trace: 't' }, 'x-extra': [1] };
    const quiet = await fleet.call({ session: 's', tool: found.tool, args: undefined, rest, signal, onProgress: undefined });
    expect(JSON.parse(textOf(quiet))).toEqual({ name: 'params', ...rest });
    const asking = await fleet.call({ session: 's', tool: found.tool, args: { a: 1 }, rest, signal, onProgress: () => undefined });
    expect(JSON.parse(textOf(asking))).toEqual({
      name: 'params',
      arguments: { a: 1 },
      'x-extra': [1],
      _meta: { trace: 't', progressToken: expect.any(Number) as number },
    });
  });

  test('[FLEET-6] a child gets the allow-list, what is passed through and what is fixed, and nothing that looks like a secret', async () => {
    const home = await fleetHome(
      settingsText({ name: 'up', more: { env: { MODE: 'x' }, envPassthrough: ['WANTED', 'MY_TOKEN'] } }),
    );
    const environment = {
      PATH: process.env['PATH'],
      HOME: home.folder,
      LANG: 'C.UTF-8',
      LC_ALL: 'C',
      LC_TOKEN: 'no',
      SSL_CERT_DIR: '/etc/ssl/certs',
      HTTPS_PROXY: 'http://user:pass@127.0.0.1:1',
      WANTED: 'yes',
      MY_TOKEN: 'named',
      OTHER: 'no',
      GITHUB_TOKEN: 'no',
      NODE_OPTIONS: '--no-warnings',
      SALLYPORT_HOME: '/x',
    };
    const fleet = await home.open({ environment });
    await acceptAll(fleet);
    const env = JSON.parse(textOf(await callTool(fleet, 'up', 'env'))) as Record<string, string>;
    expect(env).toEqual({
      PATH: process.env['PATH'],
      HOME: home.folder,
      LANG: 'C.UTF-8',
      LC_ALL: 'C',
      SSL_CERT_DIR: '/etc/ssl/certs',
      WANTED: 'yes',
      MY_TOKEN: 'named',
      MODE: 'x',
    });
  });

  test('[FLEET-8] exposeTools is what is listed and what is callable', async () => {
    const { fleet } = await openedFleet({ name: 'up', more: { exposeTools: ['echo', 'no_such_tool'] } });
    expect(fleet.catalog().map(({ tool }) => tool)).toEqual(['echo']);
    expect(fleet.resolve('up', 'write_note')).toEqual({ kind: 'unknown' });
  });

  test('reads every page of a long list and refuses one without end', async () => {
    const { fleet } = await openedFleet(
      { name: 'paged', behaviour: 'late-tools', args: ['1'] },
      { name: 'endless', behaviour: 'endless-pages' },
    );
    expect(fleet.catalog().map(({ name }) => name)).toEqual(['paged__early', 'paged__grow']);
    expect(statusOf(fleet, 'endless')).toMatchObject({ tools: 0 });
    expect(statusOf(fleet, 'endless')?.error).toContain('lists more than');
  });
});

describe('[FLEET-10] one bad upstream', () => {
  test('of any kind leaves the others unharmed and says what is wrong with it', async () => {
    const { fleet } = await openedFleet(
      { name: 'good' },
      { name: 'mute', behaviour: 'mute', more: { startTimeoutMs: 400 } },
      { name: 'gone', behaviour: 'exit-at-once' },
      { name: 'flood', behaviour: 'flood-stdout' },
      { name: 'bad', behaviour: 'bad-definitions' },
    );
    const health = await fleet.diagnose(signal);
    expect(health['good']).toMatchObject({ ok: true, tools: 9, mode: 'none', circuit: { state: 'closed', failures: 0 } });
    expect(health['mute']?.error).toMatch(/did not answer initialize within 400 ms|is down/);
    expect(health['gone']?.error).toContain('exited with code 3');
    expect(health['flood']).toMatchObject({ ok: true, tools: 1 });
    expect(health['bad']).toMatchObject({ ok: true, tools: 1 });
    expect(textOf(await callTool(fleet, 'good', 'echo', { message: 'fine' }))).toBe('fine');
    expect(statusOf(fleet, 'gone')?.stderr).toBe('fatal: no configuration found');
  });

  test('with a missing program is reported and kept, and its file entry can be mended', async () => {
    const { fleet, home } = await openedFleet({ name: 'good' });
    home.writeSettings(`${home.settings()}  - {name: lost, transport: {kind: stdio, command: no-such-program}}\n`);
    await fleet.reload();
    const health = await fleet.accept(fleet.standing('lost'), { actor: 'operator' }, false);
    expect(health).toMatchObject({ ok: false, error: expect.stringContaining("no program 'no-such-program'") as string });
    expect(textOf(await callTool(fleet, 'good', 'echo', { message: 'fine' }))).toBe('fine');
  });

  test('with a definition that no client could take loses that definition alone', async () => {
    const { fleet } = await openedFleet({ name: 'bad', behaviour: 'bad-definitions' });
    expect(fleet.catalog().map(({ tool }) => tool)).toEqual(['good']);
    const reasons = Object.fromEntries(fleet.reviews('bad').map(({ tool, unusable }) => [tool, unusable]));
    expect(Object.keys(reasons).toSorted()).toEqual(['bad_schema', 'double_key', 'na*me', 'twice']);
    expect(Object.values(reasons).every((reason) => reason !== undefined)).toBe(true);
    expect(fleet.resolve('bad', 'twice').kind).toBe('quarantined');
  });
});

describe('a member that fails', () => {
  test('[FLEET-2] by crashing is seen without a call, fails what is in flight as unknown, and is back on use', async () => {
    const { fleet, home } = await openedFleet({ name: 'up', behaviour: 'crash-on-call' });
    const pid = statusOf(fleet, 'up')?.pid ?? 0;
    const hanging = failure(callTool(fleet, 'up', 'hang'));
    await callTool(fleet, 'up', 'echo', { message: 'up' });
    process.kill(pid, 'SIGKILL');
    expect(await hanging).toMatchObject({ code: 'fleet.exited', data: { sent: true } });
    await until(() => statusOf(fleet, 'up')?.state === 'backoff', 500);
    expect(home.audit.of('upstream.exited').map(({ facts }) => facts)).toMatchObject([{ upstream: 'up', signal: 'SIGKILL' }]);
    expect(home.log.lines.join('\n')).toContain('an upstream exited by itself');
    const early = await failure(callTool(fleet, 'up', 'echo'));
    expect(early).toMatchObject({ code: 'fleet.down', data: { sent: false } });
    expect(early.retryAfterMs).toBeLessThanOrEqual(500);
    await new Promise((resolve) => setTimeout(resolve, early.retryAfterMs));
    expect(textOf(await callTool(fleet, 'up', 'echo', { message: 'again' }))).toBe('again');
    expect(statusOf(fleet, 'up')).toMatchObject({ state: 'ready', restarts: 1 });
  });

  test('[FLEET-11] at its first start is used again when its retry time has come', async () => {
    const home = await fleetHome();
    const file = join(home.folder, 'crashed');
    home.writeSettings(settingsText({ name: 'up', behaviour: 'crash-then-work', args: [file] }));
    const fleet = await home.open();
    await acceptAll(fleet);
    expect(existsSync(file)).toBe(true);
    expect(statusOf(fleet, 'up')).toMatchObject({ state: 'backoff', tools: 0 });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect((await fleet.diagnose(signal))['up']).toMatchObject({ ok: true, tools: 1 });
    expect(textOf(await callTool(fleet, 'up', 'echo', { message: 'hi' }))).toBe('hi');
  });

  test('shares one start among all who call meanwhile, and counts as one process', async () => {
    const home = await fleetHome();
    const file = join(home.folder, 'count');
    home.writeSettings(settingsText({ name: 'up', behaviour: 'counting', args: [file] }));
    const fleet = await home.open();
    await acceptAll(fleet);
    process.kill(statusOf(fleet, 'up')?.pid ?? 0, 'SIGKILL');
    await until(() => statusOf(fleet, 'up')?.state === 'backoff');
    await new Promise((resolve) => setTimeout(resolve, 500));
    await Promise.all(Array.from({ length: 20 }, (_, at) => callTool(fleet, 'up', 'hit', { tag: String(at) })));
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    expect(lines.filter((line) => line === 'start')).toHaveLength(2);
    expect(lines.filter((line) => line.startsWith('hit'))).toHaveLength(20);
  });

  test('[FLEET-12] never leaves a call hanging: the deadline counts the wait for its start as well', async () => {
    const { fleet } = await openedFleet({ name: 'up', behaviour: 'never-answers-call', more: { callTimeoutMs: 400 } });
    const startedAt = performance.now();
    expect(await failure(callTool(fleet, 'up', 'hang'))).toMatchObject({ code: 'fleet.timeout', data: { sent: true } });
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    expect(textOf(await callTool(fleet, 'up', 'cancelled'))).not.toBe('[]');
  });

  test('[FLEET-3] opens its circuit after five failures in a row, and neither refusals nor cancellations count', async () => {
    const { fleet, home } = await openedFleet({ name: 'up', behaviour: 'never-answers-call', more: { callTimeoutMs: 100 } });
    for (let times = 0; times < 6; times += 1) {
      const abort = new AbortController();
      const call = failure(callTool(fleet, 'up', 'hang', {}, { signal: abort.signal }));
      abort.abort();
      expect((await call).code).toBe('fleet.cancelled');
    }
    for (let times = 0; times < 5; times += 1) expect((await failure(callTool(fleet, 'up', 'hang'))).code).toBe('fleet.timeout');
    const refused = await failure(callTool(fleet, 'up', 'cancelled'));
    expect(refused.code).toBe('fleet.circuit_open');
    expect(refused.retryAfterMs).toBeGreaterThan(29_000);
    expect(home.audit.of('upstream.circuit').map(({ facts }) => facts)).toEqual([{ upstream: 'up', state: 'open', failures: 5 }]);
    expect((await fleet.diagnose(signal))['up']).toMatchObject({ ok: true, circuit: { state: 'open', failures: 5 } });
  });

  test('and answers nothing at all any more is ended when its circuit opens', { timeout: 30_000 }, async () => {
    const { fleet } = await openedFleet({ name: 'up', behaviour: 'freezes', more: { callTimeoutMs: 100 } });
    const pid = statusOf(fleet, 'up')?.pid ?? 0;
    await failure(callTool(fleet, 'up', 'freeze'));
    for (let times = 0; times < 4; times += 1) await failure(callTool(fleet, 'up', 'echo'));
    await until(() => startTimeOf(pid) === undefined, 9_000);
    expect(statusOf(fleet, 'up')).toMatchObject({ state: 'backoff', circuit: 'open' });
  });
});

describe('[FLEET-9] an entry of the file', () => {
  test('that nobody accepted is not started, is reported once, and says how to accept it', async () => {
    const home = await fleetHome();
    const file = join(home.folder, 'count');
    home.writeSettings(settingsText({ name: 'up', behaviour: 'counting', args: [file] }));
    let fleet: Fleet & FleetControl = await home.open();
    await fleet.settled();
    expect(statusOf(fleet, 'up')).toMatchObject({ state: 'unaccepted', error: 'no operator accepted it' });
    expect(fleet.resolve('up', 'hit')).toEqual({ kind: 'unknown' });
    expect(home.audit.of('upstream.unaccepted')).toHaveLength(1);
    expect(home.log.lines.join('\n')).toContain('sallyport upstream accept up');
    await fleet.close();
    fleet = await home.open();
    expect(home.audit.of('upstream.unaccepted')).toHaveLength(1);
    expect(existsSync(file)).toBe(false);
    await acceptAll(fleet);
    expect(readFileSync(file, 'utf8')).toBe('start\n');
    await fleet.close();
    fleet = await home.open();
    await fleet.settled();
    expect(statusOf(fleet, 'up')?.state).toBe('ready');
  });

  test.each([
    ['arguments', (text: string) => text.replace('"echo"', '"never-answers-call"')],
    ['environment', (text: string) => text.replace('"transport"', '"env":{"A":"1"},"transport"')],
    ['passed-through variables', (text: string) => text.replace('"transport"', '"envPassthrough":["A"],"transport"')],
    ['exposed tools', (text: string) => text.replace('"transport"', '"exposeTools":["echo","pid"],"transport"')],
  ])('whose %s changed stops and waits for a new decision', async (_what, change) => {
    const { fleet, home } = await openedFleet({ name: 'up' });
    const pid = statusOf(fleet, 'up')?.pid ?? 0;
    home.writeSettings(change(home.settings()));
    await until(() => statusOf(fleet, 'up')?.state === 'unaccepted');
    await until(() => startTimeOf(pid) === undefined);
    expect(fleet.catalog()).toEqual([]);
  });

  test('whose program is another one now is not started', async () => {
    const home = await fleetHome('upstreams:\n  - {name: up, transport: {kind: stdio, command: tool}}\n');
    const [before, after] = [join(home.folder, 'one'), join(home.folder, 'two')];
    const found = { path: before };
    const fleet = await home.open({ findProgram: () => Promise.resolve(found.path) });
    await acceptAll(fleet);
    found.path = after;
    await fleet.reload();
    home.writeSettings(`${home.settings()}\n`);
    await fleet.reload();
    expect(statusOf(fleet, 'up')?.error).toContain(`its command now means ${after} and was ${before}`);
  });

  test('that is removed stops, and time-outs may change without a decision', async () => {
    const { fleet, home } = await openedFleet({ name: 'up' }, { name: 'other' });
    const pid = statusOf(fleet, 'up')?.pid ?? 0;
    home.writeSettings(settingsText({ name: 'other', more: { callTimeoutMs: 5_000 } }));
    await until(() => statusOf(fleet, 'up') === undefined && startTimeOf(pid) === undefined);
    await until(() => statusOf(fleet, 'other')?.state === 'ready');
    expect((await failure(callTool(fleet, 'up', 'echo'))).message).toContain('unknown');
  });

  test('with a typo is named with what was probably meant, and a broken file changes nothing that runs', async () => {
    const { fleet, home } = await openedFleet({ name: 'good' });
    home.writeSettings(`${home.settings()}  - {name: typo, transport: {kind: stdio, comand: x}, envPassThrough: [A]}\n`);
    await fleet.reload();
    expect(statusOf(fleet, 'typo')).toMatchObject({ state: 'invalid' });
    expect(statusOf(fleet, 'typo')?.error).toContain("upstreams[1].transport has no key 'comand'; did you mean 'command'?");
    expect(statusOf(fleet, 'typo')?.error).toContain("did you mean 'envPassthrough'?");
    writeFileSync(home.settingsPath, 'upstreams: [');
    expect(await failure(fleet.reload())).toMatchObject({ code: 'fleet.bad_settings' });
    expect(textOf(await callTool(fleet, 'good', 'echo', { message: 'on' }))).toBe('on');
    rmSync(home.settingsPath);
  });
});

test('[FLEET-5] closing the fleet leaves no process, also of one that ignores SIGTERM or has children', async () => {
  const home = await fleetHome(
    settingsText({ name: 'deaf', behaviour: 'ignore-sigterm' }, { name: 'parent', behaviour: 'grandchild' }),
  );
  const fleet = await home.open();
  await acceptAll(fleet);
  const pids = [...fleet.status().map(({ pid }) => pid ?? 0), Number(textOf(await callTool(fleet, 'parent', 'child')))];
  expect(pids.every((pid) => startTimeOf(pid) !== undefined)).toBe(true);
  await fleet.close();
  expect(pids.filter((pid) => startTimeOf(pid) !== undefined)).toEqual([]);
});
