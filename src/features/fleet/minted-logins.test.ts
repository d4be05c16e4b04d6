import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startHttpFixture } from '../../../test/fixtures/http-server.ts';
import { fixtureCommand } from '../../../test/support/fixture-upstream.ts';
import { acceptAll, fleetHome, statusOf, textOf } from '../../../test/support/fleet-home.ts';
import { createClock } from '../../platform/clock.ts';
import { createEntropy } from '../../platform/crypto.ts';
import { createAuth, type CredentialProvider } from '../auth/auth.ts';
import type { AuthType } from '../auth/model.ts';

const by = { actor: 'operator' };
const minute = 60_000;

/** A fleet whose tokens are made by the test, the outside world of this suite. */
async function fleetOf(entry: object, lifeMs = 60 * minute) {
  const home = await fleetHome(
    `upstreams:\n  - ${JSON.stringify({ name: 'up', auth: { type: 'jwt', secretRef: 'key' }, ...entry })}\n`,
  );
  await home.vault.slots.create([{ kind: 'key_file', label: '', params: '{}', secret: undefined }], by);
  await home.vault.secrets.add('key', new TextEncoder().encode('signing-key-of-the-test'), by);
  const made: { token: string; agent: string | undefined; ttlMs: number | undefined; refused: boolean }[] = [];
  const clock = createClock();
  const provider: CredentialProvider<AuthType> = {
    type: 'jwt',
    mode: 'minted:jwt',
    refs: () => ['key'],
    async obtain(_auth, _secrets, { agent, ttlMs, refused }) {
      const token = `tok-${made.length}-${agent ?? 'gateway'}`;
      made.push({ token, agent, ttlMs, refused });
      return {
        headers: { authorization: `Bearer ${token}` },
        env: { UP_ACCESS_TOKEN: token },
        secrets: [token],
        expiresAt: clock.now() + Math.min(lifeMs, ttlMs ?? lifeMs),
      };
    },
  };
  const auth = createAuth({ vault: home.vault, audit: home.audit, clock, entropy: createEntropy(), providers: [provider] });
  const fleet = await home.open({ auth });
  await acceptAll(fleet);
  const call = async (tool: string, agent: string, args: Record<string, string> = {}, session = `s-${agent}`) => {
    const found = fleet.resolve('up', tool);
    if (found.kind !== 'tool') throw new Error(`${tool} is ${found.kind}`);
    const until = clock.now() + 10 * minute;
    const { signal } = new AbortController();
    return fleet.call({ agent, session, tool: found.tool, args, rest: {}, signal, onProgress: undefined, until });
  };
  return { home, fleet, made, call, auth };
}

test.each(['session', 'stateless'] as const)(
  '[INJECT-5] over HTTP (%s) each agent’s requests carry its own token, which ends with its grant',
  async (era) => {
    const fixture = await startHttpFixture({ era });
    onTestFinished(() => fixture.stop());
    const { made, call } = await fleetOf({ transport: { kind: 'http', url: fixture.url } });
    fixture.seen.length = 0;
    for (let times = 0; times < 3; times += 1) for (const agent of ['ada', 'bob']) await call('echo', agent, { message: agent });
    const carried = fixture.seen
      .filter(({ message }) => message?.method === 'tools/call')
      .map(({ headers, message }) => [
        (message?.params?.['arguments'] as { message?: string } | undefined)?.message,
        headers.authorization?.replace(/^Bearer tok-\d+-/, ''),
      ]);
    expect(carried).toEqual(
      Array.from({ length: 3 }, () => [
        ['ada', 'ada'],
        ['bob', 'bob'],
      ]).flat(),
    );
    // The gateway looks at the list with one of its own, and the agents' live no longer than what they were let pass for.
    expect(made.map(({ agent }) => agent)).toEqual([undefined, 'ada', 'bob']);
    expect(made.every(({ agent, ttlMs }) => agent === undefined || (ttlMs ?? Infinity) <= 10 * minute)).toBe(true);
    // In sessions of their own not even a stream or a goodbye carries another's.
    for (const { headers } of fixture.seen) expect(headers.authorization).toMatch(/^Bearer tok-\d+-(ada|bob|gateway)$/);
  },
);

test('[INJECT-6] a token that is refused before its time is replaced once, and the call made again', async () => {
  const fixture = await startHttpFixture();
  onTestFinished(() => fixture.stop());
  const { made, call, fleet } = await fleetOf({ transport: { kind: 'http', url: fixture.url } });
  await call('echo', 'ada');
  const bad = new Set([`Bearer ${made.at(-1)?.token}`]);
  fixture.gate = ({ headers }) => (bad.has(headers.authorization ?? '') ? { status: 401 } : undefined);
  expect(textOf(await call('echo', 'ada', { message: 'again' }))).toBe('again');
  expect(made.at(-1)).toMatchObject({ agent: 'ada', refused: true });
  expect(statusOf(fleet, 'up')?.state).toBe('ready');
  // An upstream that takes none is not asked forever.
  fixture.gate = () => ({ status: 401 });
  const [asked, minted] = [fixture.counts.calls, made.length];
  await expect(call('echo', 'ada')).rejects.toMatchObject({ code: 'fleet.auth_broken' });
  expect([fixture.counts.calls, made.length - minted, statusOf(fleet, 'up')?.state]).toEqual([asked, 1, 'login_needed']);
});

test.each(['session', 'stateless', 'legacy'] as const)(
  '[INJECT-5] what the gateway asks for itself (%s) never carries a token whose time is over',
  async (era) => {
    const fixture = await startHttpFixture({ era });
    onTestFinished(() => fixture.stop());
    const ends = new Map<string, number>();
    const { made, fleet, call } = await fleetOf({ transport: { kind: 'http', url: fixture.url } }, 400);
    fixture.gate = ({ headers }) => {
      const token = headers.authorization?.replace('Bearer ', '') ?? '';
      const known = made.some((one) => one.token === token);
      if (!ends.has(token)) ends.set(token, performance.now() + 450);
      return known && performance.now() < (ends.get(token) ?? 0) ? undefined : { status: 401 };
    };
    for (let times = 0; times < 3; times += 1) {
      await sleep(500);
      expect(await fleet.diagnose(new AbortController().signal)).toMatchObject({ up: { ok: true, mode: 'minted:jwt' } });
      expect(textOf(await call('echo', 'ada', { message: 'hi' }))).toBe('hi');
    }
    expect(statusOf(fleet, 'up')?.state).toBe('ready');
  },
);

test('[INJECT-5] [INJECT-4] a program of one agent has the token of that agent, and makes room for another at its end', async () => {
  const [command, ...args] = fixtureCommand('blabs', 'UP_ACCESS_TOKEN');
  const { made, call } = await fleetOf({ transport: { kind: 'stdio', command, args }, sharing: 'agent' }, 6_000);
  const [ada, bob] = [textOf(await call('pid', 'ada')), textOf(await call('pid', 'bob'))];
  expect(ada).not.toBe(bob);
  expect(textOf(await call('pid', 'ada', {}, 'another-session'))).toBe(ada);
  expect(made.map(({ agent }) => agent)).toEqual([undefined, 'ada', 'bob']);
  expect(textOf(await call('say', 'ada'))).toBe('it is [REDACTED:secret], really');
  await sleep(5_500);
  const later = textOf(await call('pid', 'ada'));
  expect(later).not.toBe(ada);
  expect(made.filter(({ agent }) => agent === 'ada').length).toBeGreaterThanOrEqual(2);
});

test('[INJECT-5] a program for everybody is given no token of an agent: the entry is refused', async () => {
  const { fleet } = await fleetOf({ transport: { kind: 'stdio', command: 'node', args: [] } });
  expect(statusOf(fleet, 'up')).toMatchObject({
    state: 'invalid',
    error: expect.stringContaining('set sharing to agent or session') as string,
  });
});
