import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { HttpFixture } from '../../../test/fixtures/http-fixture.ts';
import { startHttpFixture } from '../../../test/fixtures/http-server.ts';
import { fixtureCommand } from '../../../test/support/fixture-upstream.ts';
import {
  acceptAll,
  callTool,
  failure,
  fleetHome,
  statusOf,
  textOf,
  until,
  type FleetHome,
} from '../../../test/support/fleet-home.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Fleet, FleetControl } from './fleet.ts';

const by = { actor: 'operator' };
const [first, second] = ['cAnArY-one/+="-7f21', 'cAnArY-two-98ab31'];

async function keep(home: FleetHome, values: Readonly<Record<string, string>>): Promise<void> {
  if (home.vault.state() === 'absent')
    await home.vault.slots.create([{ kind: 'key_file', label: '', params: '{}', secret: undefined }], by);
  for (const [ref, value] of Object.entries(values)) {
    const bytes = new TextEncoder().encode(value);
    await (home.vault.known(ref) ? home.vault.secrets.rotate(ref, bytes, by) : home.vault.secrets.add(ref, bytes, by));
  }
}

async function fixtureOf(more: Parameters<typeof startHttpFixture>[0] = {}): Promise<HttpFixture> {
  const fixture = await startHttpFixture(more);
  onTestFinished(() => fixture.stop());
  return fixture;
}

const web = (url: string, auth: object = { type: 'bearer', secretRef: 'token' }, name = 'up'): string =>
  `upstreams:\n  - ${JSON.stringify({ name, transport: { kind: 'http', url }, auth })}\n`;

function program(more: object = {}, ...behaviour: readonly string[]): string {
  const [name = 'blabs', ...args] = behaviour.length === 0 ? ['blabs', 'TOKEN'] : behaviour;
  const [command, ...rest] = fixtureCommand(name, ...args);
  const auth = { type: 'env', env: { TOKEN: 'token' } };
  return `upstreams:\n  - ${JSON.stringify({ name: 'up', transport: { kind: 'stdio', command, args: rest }, auth, ...more })}\n`;
}

async function opened(text: string, values: Readonly<Record<string, string>> = { token: second }) {
  const home = await fleetHome(text);
  if (Object.keys(values).length > 0) await keep(home, values);
  const fleet = await home.open();
  await acceptAll(fleet);
  return { home, fleet };
}

const authorizations = (fixture: HttpFixture): readonly (string | undefined)[] => [
  ...new Set(fixture.seen.map(({ headers }) => headers.authorization)),
];

const say = async (fleet: Fleet & FleetControl, way: string, tool = 'say', more: object = {}): Promise<string> =>
  JSON.stringify(await callTool(fleet, 'up', tool, { way }, more));

describe('[INJECT-2] the value of the vault', () => {
  test.each(['session', 'stateless', 'legacy'] as const)('is in every request to an upstream over HTTP (%s)', async (era) => {
    const fixture = await fixtureOf({ era });
    const { fleet } = await opened(web(fixture.url));
    await callTool(fleet, 'up', 'echo', { message: 'hi' });
    await fleet.close();
    expect(authorizations(fixture)).toEqual([`Bearer ${second}`]);
    expect(fixture.seen.map(({ method }) => method)).toContain('POST');
  });

  test('is sent in another header, with a scheme or as it is', async () => {
    for (const [auth, sent] of [
      [{ header: 'X-Api-Key' }, { 'x-api-key': second }],
      [{ header: 'X-Api-Key', scheme: 'Key' }, { 'x-api-key': `Key ${second}` }],
      [{ scheme: 'Token' }, { authorization: `Token ${second}` }],
    ] as const) {
      const fixture = await fixtureOf();
      await opened(web(fixture.url, { type: 'bearer', secretRef: 'token', ...auth }));
      expect(fixture.seen.length).toBeGreaterThan(0);
      for (const { headers } of fixture.seen) expect(headers).toMatchObject(sent);
    }
  });

  test('is in the variables of a program, and in no other program’s', async () => {
    const bearer = program({ auth: { type: 'bearer', secretRef: 'token' } }, 'echo');
    for (const [text, variable] of [
      [bearer, 'UP_ACCESS_TOKEN'],
      [program({}, 'echo'), 'TOKEN'],
    ] as const) {
      const { fleet } = await opened(text);
      const env = JSON.parse(textOf(await callTool(fleet, 'up', 'env'))) as JsonObject;
      expect(env[variable]).toBe('[REDACTED:secret]');
      expect(JSON.stringify(env)).not.toContain(second);
    }
  });

  test.each([
    ['a line break in a header', web('http://127.0.0.1:9/mcp'), `${second}\r\nx-evil: 1`, 'line break'],
    ['a letter no header takes', web('http://127.0.0.1:9/mcp'), `${second}é`, 'ASCII'],
    ['a line break in a variable', program(), `${second}\nmore`, 'one line'],
    ['a value too short to be masked', program(), 'short', 'shorter than 8'],
  ])('is refused in words that do not repeat it: %s', async (_, text, value, words) => {
    const { home, fleet } = await opened(text, { token: value });
    const { state, error } = statusOf(fleet, 'up') ?? {};
    expect({ state, error }).toMatchObject({ state: 'login_needed', error: expect.stringContaining(words) as string });
    expect(JSON.stringify([fleet.status(), home.log.lines])).not.toContain(second);
    await keep(home, { token: first });
    // Another value is another try.
    if (text.includes('stdio')) await until(() => statusOf(fleet, 'up')?.state === 'ready');
  });
});

describe('[INJECT-3] an upstream whose secret', () => {
  test('is not in the vault waits for it in a state of its own, and starts when it is there', async () => {
    const { home, fleet } = await opened(program(), {});
    expect(statusOf(fleet, 'up')).toMatchObject({
      state: 'waiting_for_secrets',
      error: expect.stringContaining("'token'") as string,
    });
    expect(await failure(callTool(fleet, 'up', 'say'))).toMatchObject({ message: expect.stringContaining('unknown') as string });
    expect((await fleet.diagnose(new AbortController().signal))['up']).toMatchObject({ ok: false, mode: 'fallback:injection' });
    await keep(home, { other: first });
    await sleep(50);
    expect(statusOf(fleet, 'up')?.state).toBe('waiting_for_secrets');
    await keep(home, { token: first });
    await until(() => statusOf(fleet, 'up')?.state === 'ready');
    expect(await say(fleet, 'raw')).toContain('[REDACTED:secret]');
    // Taken away it is used no further.
    await home.vault.secrets.remove('token', by);
    await until(() => statusOf(fleet, 'up')?.state === 'waiting_for_secrets');
    expect(await failure(callTool(fleet, 'up', 'say'))).toMatchObject({
      code: 'auth.waiting_for_secret',
      hint: 'Ask the human to run: sallyport secret add token',
      data: { sent: false },
    });
  });

  test('is in a closed vault is tried when a person opens it; a call waits for that meanwhile', async () => {
    const home = await fleetHome(program());
    await keep(home, { token: second });
    await home.vault.lock('operator');
    const fleet = await home.open();
    await acceptAll(fleet);
    expect(statusOf(fleet, 'up')).toMatchObject({ state: 'stopped', error: 'The vault is locked, so no secret can be used.' });
    expect(home.audit.entries.filter(({ event }) => event === 'secret.used')).toEqual([]);
    await home.vault.slots.openByMachine(['key_file']);
    await until(() => statusOf(fleet, 'up')?.state === 'ready');
  });
});

test('[INJECT-3] a call to an upstream whose secret is behind a closed vault waits for a person, and goes on', async () => {
  const fixture = await fixtureOf();
  const { home, fleet } = await opened(web(fixture.url));
  await fleet.close();
  await home.vault.lock('operator');
  fixture.seen.length = 0;
  const again = await home.open();
  expect(statusOf(again, 'up')).toMatchObject({ state: 'stopped' });
  const waiting = callTool(again, 'up', 'echo', { message: 'hi' });
  await sleep(100);
  expect(fixture.seen).toEqual([]);
  await home.vault.slots.openByMachine(['key_file']);
  expect(textOf(await waiting)).toBe('hi');
  // Nobody comes: it is told which command opens it, and that nothing was sent.
  await again.close();
  await home.vault.lock('operator');
  const third = await home.open();
  const alone = failure(callTool(third, 'up', 'echo'));
  await sleep(50);
  home.vault.close();
  expect(await alone).toMatchObject({
    code: 'vault.locked',
    hint: 'A person opens it with: sallyport vault unlock',
    data: { sent: false },
  });
});

describe('[INJECT-4] a changed value', () => {
  test('reaches an upstream over HTTP with the next request, in the session it has', async () => {
    const fixture = await fixtureOf();
    const { home, fleet } = await opened(web(fixture.url));
    await callTool(fleet, 'up', 'echo');
    const { initializes } = fixture.counts;
    fixture.seen.length = 0;
    await keep(home, { token: first.replaceAll('"', '') });
    await callTool(fleet, 'up', 'echo');
    expect(authorizations(fixture)).toEqual([`Bearer ${first.replaceAll('"', '')}`]);
    expect(fixture.counts.initializes).toBe(initializes);
  });

  test.each(['shared', 'agent', 'session'])('replaces a running program (%s) when its calls are done', async (sharing) => {
    const { home, fleet } = await opened(program({ sharing }), { token: first });
    const who = { agent: 'kimi', session: 's' };
    const pid = textOf(await callTool(fleet, 'up', 'pid', {}, who));
    const slow = callTool(fleet, 'up', 'sleep', { ms: '3000' }, who);
    await sleep(100);
    await keep(home, { token: second });
    let now = pid;
    for (let tries = 0; tries < 100 && now === pid; tries += 1) {
      await sleep(20);
      now = textOf(await callTool(fleet, 'up', 'pid', {}, who));
    }
    expect(now).not.toBe(pid);
    expect(isAlive(Number(pid))).toBe(true);
    // It finished on the process it began on, and its old value is masked still.
    expect(textOf(await slow)).toBe('[REDACTED:secret]');
    for (const way of ['raw', 'base64', 'structured']) expect(await say(fleet, way, 'say', who)).not.toContain('cAnArY');
    await until(() => !isAlive(Number(pid)));
  });

  test('replaces an idle program without a call', async () => {
    const { home, fleet } = await opened(program(), { token: first });
    const pid = statusOf(fleet, 'up')?.pid;
    await keep(home, { token: second });
    await until(() => statusOf(fleet, 'up')?.state === 'ready' && statusOf(fleet, 'up')?.pid !== pid);
    expect(isAlive(pid ?? 0)).toBe(false);
  });
});

describe('[INJECT-1] a secret goes to the accepted spec alone', () => {
  test('replacing a known name by another URL or command sends nothing before a new decision', async () => {
    const [mine, evil] = [await fixtureOf(), await fixtureOf()];
    const { home, fleet } = await opened(web(mine.url));
    home.writeSettings(web(evil.url));
    await fleet.reload();
    expect(statusOf(fleet, 'up')?.state).toBe('unaccepted');
    home.writeSettings(program());
    await fleet.reload();
    await sleep(50);
    expect([evil.seen.length, statusOf(fleet, 'up')?.state]).toEqual([0, 'unaccepted']);
    expect(await failure(callTool(fleet, 'up', 'echo'))).toBeDefined();
    home.writeSettings(web(mine.url));
    await fleet.reload();
    await fleet.settled();
    expect(statusOf(fleet, 'up')?.state).toBe('ready');
    expect(evil.seen).toEqual([]);
  });

  test('an upstream that redirects, or names another endpoint, gets no one else the secret', async () => {
    const evil = await fixtureOf();
    const mine = await fixtureOf({ gate: () => ({ status: 307, headers: { location: evil.url } }) });
    const { fleet } = await opened(web(mine.url));
    expect(statusOf(fleet, 'up')?.state).not.toBe('ready');
    expect(evil.seen).toEqual([]);
  });
});

describe('[INJECT-6] an upstream that answers 401', () => {
  test('to a value as it is in the vault is parked with the command that mends it, and tried when it changed', async () => {
    const fixture = await fixtureOf({
      gate: ({ headers }) => (headers.authorization === `Bearer ${second}` ? undefined : { status: 401 }),
    });
    const { home, fleet } = await opened(web(fixture.url), { token: 'wrong-value' });
    expect(statusOf(fleet, 'up')).toMatchObject({
      state: 'login_needed',
      error: expect.stringContaining('sallyport secret rotate token') as string,
    });
    const asked = fixture.seen.length;
    await sleep(50);
    expect(fixture.seen.length).toBe(asked);
    await keep(home, { token: second });
    await until(() => statusOf(fleet, 'up')?.state === 'ready');
    await callTool(fleet, 'up', 'echo');
    // In the middle of its service as well.
    fixture.gate = () => ({ status: 401, body: JSON.stringify({ error: `bad token ${second}` }) });
    const error = await failure(callTool(fleet, 'up', 'echo'));
    expect(error).toMatchObject({ code: 'fleet.auth_broken', hint: expect.stringContaining('secret rotate token') as string });
    expect(JSON.stringify([error.message, error.hint, error.data])).not.toContain(second);
    expect(statusOf(fleet, 'up')?.state).toBe('login_needed');
  });
});

describe('[REDACT-1] what an upstream says of a value it was given is masked', () => {
  test('in answers, in whatever way it says it', async () => {
    const { fleet } = await opened(program(), { token: first });
    const ways = [
      'raw',
      'json',
      'deep',
      'unicode',
      'base64',
      'basic',
      'base64url',
      'hex',
      'percent',
      'structured',
      'embedded',
      'meta',
      'failed',
    ];
    for (const way of ways) {
      const said = await say(fleet, way);
      expect([way, said]).toEqual([way, expect.stringContaining('[REDACTED:secret]')]);
      expect([way, said.includes(first), said.includes('cAnArY')]).toEqual([way, false, false]);
      expect([way, said.includes(Buffer.from(first).toString('base64').slice(2, 20))]).toEqual([way, false]);
      const parsed = JSON.parse(said) as { json: string; value: JsonObject };
      expect(JSON.parse(parsed.json)).toEqual(parsed.value);
    }
  });

  test('in errors, progress, log messages and questions', async () => {
    const { fleet } = await opened(program({ sharing: 'session' }), { token: first });
    const heard: string[] = [];
    const host = {
      capabilities: { elicitation: {} },
      info: undefined,
      ask: async ({ params }: { readonly params: string | undefined }) => {
        heard.push(params ?? '');
        return { kind: 'result' as const, json: '{"action":"decline"}', value: { action: 'decline' } };
      },
      notify: (method: string, params: string | undefined) => void heard.push(`${method} ${params}`),
    };
    const onProgress = (note: JsonObject): void => void heard.push(JSON.stringify(note));
    for (const tool of ['refuse', 'progress', 'log', 'ask']) heard.push(await say(fleet, '', tool, { host, onProgress }));
    await until(() => heard.length >= 7);
    expect(heard.filter((text) => text.includes('cAnArY'))).toEqual([]);
    expect(heard.filter((text) => text.includes('[REDACTED:secret]')).length).toBeGreaterThanOrEqual(7);
  });

  test('in definitions, in what it says of itself, and in its last words', async () => {
    const { home, fleet } = await opened(program({}, 'blabs', 'TOKEN', 'also'), { token: first });
    const about = (): string =>
      JSON.stringify([fleet.catalog(), fleet.said('up'), fleet.status(), home.log.lines, home.audit.entries]);
    expect(about()).toContain('([REDACTED:secret])');
    expect(about()).not.toContain('cAnArY');
    const error = await failure(callTool(fleet, 'up', 'crash'));
    await until(() => (statusOf(fleet, 'up')?.error ?? '').includes('exited'));
    expect(`${about()}${error.message}${JSON.stringify(error.data)}`).not.toContain('cAnArY');
    expect(JSON.stringify(error)).not.toContain('7f21');
    const broken = await failure(callTool(fleet, 'up', 'garbage', {}, { signal: AbortSignal.timeout(300) }));
    expect(`${about()}${broken.message}${JSON.stringify(broken.data)}`).not.toContain('cAnArY');
  });

  test('by the bytes of its answer where there is nothing to mask', async () => {
    const fixture = await fixtureOf();
    const { fleet } = await opened(web(fixture.url));
    const plain = await fixtureOf();
    const { fleet: bare } = await opened(web(plain.url, { type: 'none' }), {});
    const [a, b] = await Promise.all([callTool(fleet, 'up', 'odd'), callTool(bare, 'up', 'odd')]);
    expect(a).toEqual(b);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
