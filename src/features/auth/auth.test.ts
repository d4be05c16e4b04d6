import { describe, expect, onTestFinished, test } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { fleetHome } from '../../../test/support/fleet-home.ts';
import { AppError } from '../../kernel/errors.ts';
import { createEntropy } from '../../platform/crypto.ts';
import { createAuth, type AuthBinding, type CredentialProvider, type ProviderWish } from './auth.ts';
import type { AuthType } from './model.ts';

const by = { actor: 'operator' };
const { signal } = new AbortController();
const hour = 3_600_000;
const binding: AuthBinding = { upstream: 'up', specDigest: 'd1', auth: { type: 'jwt', secretRef: 'signing_key' } };

/** A token endpoint of the outside world: counts, waits, fails and revokes as it is told. */
async function minting({ lifeMs = hour, type = 'jwt' }: { lifeMs?: number; type?: AuthType } = {}) {
  const home = await fleetHome();
  await home.vault.slots.create([{ kind: 'key_file', label: '', params: '{}', secret: undefined }], by);
  const keep = (value: string) =>
    home.vault.secrets[home.vault.known('signing_key') ? 'rotate' : 'add']('signing_key', new TextEncoder().encode(value), by);
  await keep('the-key-that-signs-1');
  const clock = createFakeClock();
  const minted: { readonly token: string; readonly wish: ProviderWish; revoked: boolean }[] = [];
  const outside = { fails: undefined as AppError | undefined, open: Promise.resolve() };
  const provider: CredentialProvider<AuthType> = {
    type,
    mode: 'minted:jwt',
    refs: () => ['signing_key'],
    async obtain(_, secrets, wish) {
      const key = new TextDecoder().decode(secrets.get('signing_key'));
      await outside.open;
      if (outside.fails !== undefined) throw outside.fails;
      const one = { token: `minted-${key}-${minted.length}-for-${wish.agent ?? 'all'}`, wish, revoked: false };
      minted.push(one);
      return {
        headers: { authorization: `Bearer ${one.token}` },
        env: {},
        secrets: [one.token],
        expiresAt: clock.now() + lifeMs,
        async revoke() {
          one.revoked = true;
        },
      };
    },
  };
  const auth = createAuth({ vault: home.vault, audit: home.audit, clock, entropy: createEntropy(), providers: [provider] });
  onTestFinished(() => auth.close());
  auth.bind(binding);
  const ask = (wish: { agent?: string; ttlMs?: number } = {}, what = binding) => auth.credential(what, { signal, ...wish });
  return { home, auth, ask, minted, clock, outside, keep };
}

describe('[INJECT-5] a credential', () => {
  test('is obtained once for all who ask at the same time, and is on the record before', async () => {
    const { ask, minted, home, outside } = await minting();
    const { promise, resolve } = Promise.withResolvers<void>();
    outside.open = promise;
    const asked = Array.from({ length: 20 }, () => ask({ agent: 'kimi' }));
    await new Promise((done) => setTimeout(done, 20));
    expect(home.audit.of('secret.used').map(({ actor, facts }) => [actor, facts])).toEqual([
      ['agent:kimi', { upstream: 'up', refs: ['signing_key'], type: 'jwt', spec: 'd1' }],
    ]);
    resolve();
    const ids = new Set((await Promise.all(asked)).map(({ id }) => id));
    expect([ids.size, minted.length]).toEqual([1, 1]);
    expect(await ask({ agent: 'kimi' })).toMatchObject({ id: [...ids][0] });
  });

  test('is not obtained when nothing can be recorded', async () => {
    const { ask, minted, home } = await minting();
    home.audit.fail(true);
    await expect(ask()).rejects.toMatchObject({ code: 'audit.unavailable' });
    expect(minted).toEqual([]);
  });

  test('minted for one agent is given to no other, and to nobody past the grant', async () => {
    const { ask, auth, minted, clock } = await minting();
    const [ada, bob, own] = [await ask({ agent: 'ada', ttlMs: 60_000 }), await ask({ agent: 'bob' }), await ask()];
    expect(new Set([ada.id, bob.id, own.id]).size).toBe(3);
    expect(minted.map(({ wish }) => [wish.agent, wish.ttlMs])).toEqual([
      ['ada', 60_000],
      ['bob', undefined],
      [undefined, undefined],
    ]);
    // The provider gave it an hour; here it ends with the grant.
    expect(ada.expiresAt).toBe(clock.now() + 60_000);
    // A shorter grant of the same agent gets a token of its own; a longer one may have the shorter.
    expect((await ask({ agent: 'ada', ttlMs: 20_000 })).id).not.toBe(ada.id);
    expect(auth.held(binding, { agent: 'ada', ttlMs: 500_000 })).toBeDefined();
    clock.advance(61_000);
    expect(auth.holds(binding, ada.id)).toBe(false);
    expect(minted[0]?.revoked).toBe(true);
    expect(auth.held(binding, { agent: 'ada', ttlMs: 60_000 })).toBeUndefined();
    expect(auth.holds(binding, bob.id)).toBe(true);
  });

  test('is renewed when most of its life is over, and used to its end while that fails', async () => {
    const { ask, minted, clock, outside } = await minting();
    const before = await ask();
    clock.advance(hour * 0.79);
    expect((await ask()).id).toBe(before.id);
    clock.advance(hour * 0.02);
    outside.fails = new AppError('unavailable', 'auth.unreachable', 'nobody answers');
    expect((await ask()).id).toBe(before.id);
    outside.fails = undefined;
    expect((await ask()).id).not.toBe(before.id);
    clock.advance(hour);
    outside.fails = new AppError('unavailable', 'auth.unreachable', 'nobody answers');
    await expect(ask()).rejects.toMatchObject({ code: 'auth.unreachable' });
    expect(minted).toHaveLength(2);
  });

  test('of a key that was changed is not used any more, also where the change came in the middle of it', async () => {
    const { ask, auth, minted, outside, keep, clock } = await minting();
    const told: string[] = [];
    auth.onChanged((upstream) => told.push(upstream));
    const before = await ask();
    const { promise, resolve } = Promise.withResolvers<void>();
    outside.open = promise;
    const other = ask({ agent: 'ada' });
    await new Promise((done) => setTimeout(done, 20));
    await keep('the-key-that-signs-2');
    resolve();
    await other;
    expect([told, auth.holds(binding, before.id)]).toEqual([['up'], false]);
    expect(minted.at(-1)?.token).toContain('signs-2');
    // Whoever was given the old one may still say it.
    const texts = auth.secretsOf('up');
    expect(['the-key-that-signs-1', 'the-key-that-signs-2', minted[0]?.token].every((text) => texts.includes(text ?? ''))).toBe(
      true,
    );
    clock.advance(60_000);
    expect(minted[0]?.revoked).toBe(true);
  });

  test('waits for nobody who left', async () => {
    const { ask, auth, outside } = await minting();
    const { promise, resolve } = Promise.withResolvers<void>();
    outside.open = promise;
    const leaving = new AbortController();
    const left = auth.credential(binding, { signal: leaving.signal });
    const stays = ask();
    leaving.abort();
    await expect(left).rejects.toMatchObject({ code: 'fleet.cancelled' });
    resolve();
    await expect(stays).resolves.toBeDefined();
  });
});

describe('[INJECT-1] what was accepted under a name', () => {
  test('is all that is given its secrets: another spec, and the one it replaced, get nothing', async () => {
    const { ask, auth, minted } = await minting();
    const other = { ...binding, specDigest: 'd2', origin: 'https://elsewhere.example' };
    await expect(ask({}, other)).rejects.toMatchObject({ code: 'auth.unbound', data: { sent: false } });
    await ask();
    const release = auth.bind(other);
    await expect(ask()).rejects.toMatchObject({ code: 'auth.unbound' });
    expect([auth.held(binding, {}), auth.boundTo('signing_key')]).toEqual([undefined, ['up']]);
    expect((await ask({}, other)).id).toBeDefined();
    release();
    await expect(ask({}, other)).rejects.toMatchObject({ code: 'auth.unbound' });
    expect([minted.length, minted.at(-1)?.revoked, auth.boundTo('signing_key')]).toEqual([2, true, []]);
  });
});

describe('[INJECT-6] a credential that was refused', () => {
  test('is forgotten, and the provider told that only another one helps', async () => {
    const { ask, auth, minted } = await minting();
    const first = await ask();
    expect(await auth.refused(binding, first)).toBe(true);
    const second = await ask();
    expect([second.id === first.id, minted[0]?.revoked, minted[1]?.wish.refused]).toEqual([false, true, true]);
    // Somebody who still had the first one finds that another is there.
    expect(await auth.refused(binding, first)).toBe(true);
    expect((await ask()).id).toBe(second.id);
  });
});

test('[INJECT-3] a name that is not in the vault is told with the command that adds it', async () => {
  const { auth } = await minting();
  const other: AuthBinding = { upstream: 'other', specDigest: 'd', auth: { type: 'jwt', secretRef: 'signing_key' } };
  auth.bind({ ...other, auth: { type: 'github_app', secretRef: 'app_key', appId: '1', installationId: '2' } });
  await expect(auth.credential({ ...other }, { signal })).rejects.toMatchObject({
    code: 'auth.waiting_for_secret',
    message: "Upstream 'other' waits for a secret that is not in the vault yet: 'app_key'.",
    hint: 'A person adds it with: sallyport secret add app_key',
  });
});
