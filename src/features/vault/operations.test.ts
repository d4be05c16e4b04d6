// The operations of the vault behind the real gateway: signatures, commitments, the record and the agent's tool, on one house.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { carrySecrets } from '../../faces/cli/carry-secret.ts';
import { openGatewayHouse, type GatewayHouse } from '../../../test/support/gateway-house.ts';
import { bytes } from '../../../test/support/vault-house.ts';
import { refsOperation } from './operations/refs.ts';
import { sizeClassOf } from './secret-value.ts';

const policies = 'version: 1\nagents: { "*": { capabilities: [] } }\n';
const canary = 'cAnArY-operations-5d1e';
const never = new AbortController().signal;

let house: GatewayHouse;
beforeAll(async () => {
  house = await openGatewayHouse({ policies });
});
afterAll(() => house.close());

/** What the command line sends: the statement is signed over the commitment, the value goes along. */
async function put(
  operation: 'vault.add-secret' | 'vault.rotate-secret',
  ref: string,
  value: string,
  sent = value,
): Promise<unknown> {
  const { commitments, secrets } = await carrySecrets({ value: bytes(value) });
  const input = { ref, size: sizeClassOf(value.length), ...commitments };
  const proof = house.operator.prove(await house.prepare(operation, input));
  const carried = sent === value ? secrets : { value: { value: bytes(sent), salt: secrets['value']?.salt ?? new Uint8Array(32) } };
  return house.dispatch.operate({ kind: 'operator', proof }, operation, input, never, carried);
}

describe('secrets', () => {
  test('[SECRET-1] the first secret makes the vault, says so before it is signed, and is listed by name', async () => {
    const { commitments } = await carrySecrets({ value: bytes('x') });
    const statement = await house.prepare('vault.add-secret', { ref: 'github_token', size: 64, ...commitments });
    expect(statement.shown).toEqual({
      ref: 'github_token',
      size: 'up to 64 bytes',
      vault: 'is made with this; it opens with the file keys/vault.key of the home, at each start, without asking anybody',
    });
    expect(await put('vault.add-secret', 'github_token', canary)).toMatchObject({ ref: 'github_token', version: 1 });
    expect(await put('vault.rotate-secret', 'github_token', `${canary}-2`)).toMatchObject({ version: 2 });
    expect(await house.local('vault.list-secrets')).toEqual([
      {
        ref: 'github_token',
        version: 2,
        changed_at: expect.any(String) as string,
        previous_until: expect.any(String) as string,
        bound_to: [],
      },
    ]);
    expect((await house.records('secret.rotated')).at(-1)?.facts).toMatchObject({ ref: 'github_token', version: 2 });
  });

  test('[SECRET-1] nothing of it happens without the signature, and the attempts are on the record', async () => {
    const { commitments, secrets } = await carrySecrets({ value: bytes('mine') });
    const attempts: [string, object][] = [
      ['vault.add-secret', { ref: 'x', size: 64, ...commitments }],
      ['vault.rotate-secret', { ref: 'github_token', size: 64, ...commitments }],
      ['vault.remove-secret', { ref: 'github_token' }],
      ['vault.rotate-key', {}],
      ['vault.add-slot', { kind: 'keychain' }],
    ];
    for (const [operation, input] of attempts) {
      await expect(house.dispatch.operate({ kind: 'local' }, operation, input, never, secrets)).rejects.toMatchObject({
        code: 'operator.proof_required',
      });
      expect((await house.records('operation.refused')).at(-1)?.facts).toEqual({ operation, code: 'operator.proof_required' });
    }
    expect(await house.local('vault.list-secrets')).toHaveLength(1);
  });

  test('[SECRET-2] another value than the one that was signed is refused, and so is one of another size', async () => {
    await expect(put('vault.rotate-secret', 'github_token', 'signed-value', 'another-value')).rejects.toMatchObject({
      code: 'gateway.other_secret',
    });
    const { commitments, secrets } = await carrySecrets({ value: bytes('y'.repeat(65)) });
    const input = { ref: 'github_token', size: 64, ...commitments };
    const proof = house.operator.prove(await house.prepare('vault.rotate-secret', input));
    await expect(
      house.dispatch.operate({ kind: 'operator', proof }, 'vault.rotate-secret', input, never, secrets),
    ).rejects.toMatchObject({ code: 'vault.bad_value' });
    expect(await house.local('vault.list-secrets')).toMatchObject([{ ref: 'github_token', version: 2 }]);
  });

  test('[SECRET-3] what came along is zeroed, whether it was taken or refused', async () => {
    const { commitments, secrets } = await carrySecrets({ value: bytes(canary) });
    const input = { ref: 'zeroed', size: 64, ...commitments };
    const proof = house.operator.prove(await house.prepare('vault.add-secret', input));
    await house.dispatch.operate({ kind: 'operator', proof }, 'vault.add-secret', input, never, secrets);
    const refused = await carrySecrets({ value: bytes(canary) });
    await house.dispatch.operate({ kind: 'local' }, 'vault.lock', {}, never, refused.secrets).catch(() => undefined);
    for (const { value } of [secrets['value'], refused.secrets['value']].flatMap((one) => one ?? [])) {
      expect([...value].every((byte) => byte === 0)).toBe(true);
    }
    await house.decide('vault.remove-secret', { ref: 'zeroed' });
  });

  test('[SECRET-3] no row, no statement, no record and no answer holds a value', async () => {
    const answers = [
      await house.local('vault.status'),
      await house.local('vault.slots'),
      await house.local('vault.list-secrets'),
      await house.local('audit.query', { limit: 200 }),
      await put('vault.add-secret', 'github_token', canary).catch((thrown: unknown) => String(thrown) + JSON.stringify(thrown)),
    ];
    const everything = JSON.stringify([house.rows(), answers]) + house.recordText();
    for (const form of [
      canary,
      Buffer.from(canary).toString('base64'),
      Buffer.from(canary).toString('base64url'),
      Buffer.from(canary).toString('hex'),
    ]) {
      expect(everything).not.toContain(form);
    }
    expect(everything).toContain('github_token');
  });

  test('[SECRET-5] an agent reads the names and nothing else, in the shape of the contract page', async () => {
    const kimi = await house.agent();
    expect(kimi.toolNames()).toContain('scopegate_vault_status');
    expect(await kimi.json('scopegate_vault_status')).toEqual({ secret_refs: ['github_token'] });
    expect((await kimi.reads('scopegate_vault_status', { ref: 'x' })).text).toMatch(/^ERROR: Unknown argument 'ref'/);
  });

  test('[SECRET-5] a reference bound to upstreams is seen by agents that may reach one of them', async () => {
    const bound: Record<string, string[]> = { one: ['github'], both: ['github', 'aws'], free: [] };
    const operation = refsOperation({
      vault: { refs: () => Object.keys(bound) } as never,
      boundTo: (ref) => bound[ref] ?? [],
      reachable: (agent, upstream) => `${agent} ${upstream}` === 'kimi aws',
      decoy: () => false,
    });
    const ask = (agent: string) =>
      operation.run(
        {},
        { caller: { kind: 'agent', agent, session: '' }, signal: never, canProgress: false, progress: () => undefined },
      );
    expect(await ask('kimi')).toEqual({ secret_refs: ['both', 'free'] });
    expect(await ask('other')).toEqual({ secret_refs: ['free'] });
  });
});

describe('the vault', () => {
  test('[VAULT-3] locked, it refuses changes before anybody signs, still lists names, and opens again without a signature', async () => {
    expect(await house.local('vault.lock')).toEqual({ state: 'locked' });
    const { commitments } = await carrySecrets({ value: bytes('x') });
    for (const [operation, input] of [
      ['vault.add-secret', { ref: 'x', size: 64, ...commitments }],
      ['vault.remove-secret', { ref: 'github_token' }],
      ['vault.rotate-key', {}],
    ] as const) {
      await expect(house.prepare(operation, input)).rejects.toMatchObject({
        code: 'vault.locked',
        hint: 'A person opens it with: sallyport vault unlock',
      });
    }
    expect(await house.local('vault.list-secrets')).toMatchObject([{ ref: 'github_token' }]);
    expect(await house.local('vault.status')).toMatchObject({ state: 'locked', advice: ['Open it with: sallyport vault unlock'] });
    const kimi = await house.agent();
    expect(await kimi.json('scopegate_vault_status')).toEqual({ secret_refs: ['github_token'] });
    expect(await house.local('vault.unlock')).toEqual({ state: 'open' });
    expect((await house.records('vault.opened')).at(-1)).toMatchObject({ actor: 'daemon', facts: { kind: 'key_file' } });
  });

  test('[VAULT-4] a passphrase slot is added by signature over its key, opens the vault, and a wrong one is on the record', async () => {
    const key = new Uint8Array(32).fill(5);
    const { commitments, secrets } = await carrySecrets({ key });
    const kdf = { kdf: 'argon2id', memory_kib: 65_536, passes: 3, parallelism: 1, salt: 'AAAAAAAAAAAAAAAAAAAAAA' };
    const input = { kind: 'passphrase', kdf, ...commitments };
    const proof = house.operator.prove(await house.prepare('vault.add-slot', input));
    const { id } = (await house.dispatch.operate({ kind: 'operator', proof }, 'vault.add-slot', input, never, secrets)) as {
      id: string;
    };
    await house.local('vault.lock');
    const open = async (fill: number) =>
      house.dispatch.operate(
        { kind: 'local' },
        'vault.unlock',
        { slot: id },
        never,
        (await carrySecrets({ key: new Uint8Array(32).fill(fill) })).secrets,
      );
    await expect(open(6)).rejects.toMatchObject({ code: 'vault.wrong_key' });
    expect((await house.records('vault.refused')).at(-1)).toMatchObject({
      actor: 'local',
      facts: { slot: id, kind: 'passphrase' },
    });
    expect(await open(5)).toEqual({ state: 'open' });
    await expect(house.prepare('vault.init', { kind: 'key_file' })).rejects.toMatchObject({ code: 'vault.exists' });
  });

  test('[VAULT-2] a slot with a derivation below the floor is not made', async () => {
    const { commitments } = await carrySecrets({ key: new Uint8Array(32) });
    const kdf = { kdf: 'argon2id', memory_kib: 1_024, passes: 1, parallelism: 1, salt: 'AAAAAAAAAAAAAAAAAAAAAA' };
    await expect(house.prepare('vault.add-slot', { kind: 'passphrase', kdf, ...commitments })).rejects.toMatchObject({
      code: 'gateway.misuse',
    });
  });

  test('[VAULT-8] a keychain that is not there is said so when it is wanted, and nothing is changed', async () => {
    const statement = await house.prepare('vault.add-slot', { kind: 'keychain' });
    await expect(house.decide('vault.add-slot', { kind: 'keychain' }, statement)).rejects.toMatchObject({
      code: 'vault.start_key',
    });
    expect(((await house.local('vault.slots')) as unknown[]).length).toBe(2);
  });

  test('[VAULT-4] the vault gets a new key by signature; slots and secrets stay', async () => {
    const statement = await house.prepare('vault.rotate-key');
    expect(statement.shown).toEqual({ slots: 2, secrets: 1 });
    expect(await house.decide('vault.rotate-key', {}, statement)).toEqual({ slots: 2, secrets: 1 });
    await house.local('vault.lock');
    expect(await house.local('vault.unlock')).toEqual({ state: 'open' });
  });
});
