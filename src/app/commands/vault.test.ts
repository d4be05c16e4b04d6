// The commands of the vault with a person at the terminal: what is asked, what is shown, and that nothing is done after a slip.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openGatewayHouse, type GatewayHouse } from '../../../test/support/gateway-house.ts';
import { scriptCli, type ScriptedCli } from '../../../test/support/scripted-cli.ts';
import { runCommandLine } from '../../faces/cli/run-command-line.ts';
import type { Person } from '../../faces/cli/ports.ts';
import { operationNamed, type VaultCommandDeps } from './vault-parts.ts';
import { vaultCommands } from './vault.ts';

const sesame = 'open sesame please';
const canary = 'cAnArY-typed-0b7e';

let house: GatewayHouse;
beforeAll(async () => {
  house = await openGatewayHouse({ policies: 'version: 1\nagents: {}\n' });
});
afterAll(() => house.close());

let beside: Person | undefined;
let piped: string;
beforeEach(() => {
  beside = undefined;
  piped = '';
});

interface Ran {
  readonly code: number;
  readonly cli: ScriptedCli;
  readonly said: string;
}

/** `answers` of the person in order; absent = no terminal at standard input. */
async function run(words: string[], answers?: readonly string[], more: Partial<VaultCommandDeps> = {}): Promise<Ran> {
  const cli = scriptCli({ dispatch: house.dispatch, operator: house.operator, ...(answers && { answers }) });
  const deps: VaultCommandDeps = {
    operations: house.dispatch.operations,
    readInput: () => Promise.resolve(new TextEncoder().encode(piped)),
    passphraseFromFile: () => Promise.resolve(undefined),
    personBesidePipe: () => beside,
    ...more,
  };
  const code = await runCommandLine(words, vaultCommands(deps), cli);
  return { code, cli, said: [...cli.stdout, ...cli.stderr].join('\n') };
}

describe('secret add and rotate', () => {
  test('[SECRET-3] a value is asked for twice, hidden, and shown nowhere', async () => {
    const { code, cli, said } = await run(['secret', 'add', 'github_token'], [canary, canary, 'y', sesame]);
    expect(code).toBe(0);
    expect(cli.prompts).toEqual([
      'hidden Value of github_token: ',
      'hidden The same again: ',
      'Sign and do this? [y/N] ',
      'hidden Operator passphrase: ',
    ]);
    expect(cli.stdout).toEqual(['The secret github_token is in the vault.']);
    expect(said).not.toContain(canary);
    expect(await house.local('vault.list-secrets')).toMatchObject([{ ref: 'github_token', version: 1 }]);
  });

  test('[SECRET-1] what would not be taken is said before anybody types a value', async () => {
    for (const [words, why] of [
      [['secret', 'add', 'github_token'], "There is a secret 'github_token' already."],
      [['secret', 'rotate', 'other'], "There is no secret 'other'"],
    ] as const) {
      const { code, cli, said } = await run([...words], []);
      expect([code, cli.prompts]).toEqual([1, []]);
      expect(said).toContain(why);
    }
  });

  test('[SECRET-3] a slip of the pen, a value too long for a prompt, or a no does nothing', async () => {
    const long = canary.repeat(300);
    for (const [answers, why] of [
      [[canary, `${canary}x`], 'the two differ; nothing was done'],
      [[long, long], 'sallyport secret add'],
      [['', ''], 'it is empty'],
      [[canary, canary, 'n'], 'not signed; nothing was done'],
    ] as const) {
      const { code, said } = await run(['secret', 'rotate', 'github_token'], answers);
      expect([code, said]).toEqual([1, expect.stringContaining(why)]);
      expect(said).not.toContain(canary);
    }
    expect(await house.local('vault.list-secrets')).toMatchObject([{ version: 1 }]);
  });

  test('[SECRET-1] a piped value is signed for at the terminal beside the pipe', async () => {
    piped = '-----BEGIN KEY-----\nabc\n-----END KEY-----';
    let released = false;
    beside = {
      ask: () => Promise.resolve('yes'),
      askHidden: () => Promise.resolve(sesame),
      release: () => (released = true),
    };
    const { code, cli } = await run(['secret', 'rotate', 'github_token', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(cli.stdout[0] ?? '')).toMatchObject({ ref: 'github_token', version: 2 });
    expect(released).toBe(true);
  });
});

describe('slots', () => {
  test('[VAULT-6] a recovery code is shown before anything is done, and done only once two of its groups were typed back', async () => {
    const slots = async (): Promise<string[]> => ((await house.local('vault.slots')) as { kind: string }[]).map(({ kind }) => kind);
    const wrong = await run(['vault', 'slot', 'add', 'recovery'], ['0000']);
    expect([wrong.code, wrong.said]).toEqual([1, expect.stringContaining('that is not what is written there')]);
    expect(await slots()).toEqual(['key_file']);

    const shown: { code: string | undefined } = { code: undefined };
    const answers = ['', '', 'y', sesame];
    const cli = scriptCli({ dispatch: house.dispatch, operator: house.operator, answers });
    const person = cli.person;
    const groupOf = (at: number): string => (shown.code ?? '').split('-')[at] ?? '';
    const reading = {
      ...cli,
      note(text: string) {
        shown.code ??= /\n {4}(\S+)\n/.exec(text)?.[1];
        cli.note(text);
      },
      person: person && {
        ...person,
        ask: async (prompt: string) => {
          const answer = await person.ask(prompt);
          const [, group] = /^Group (\d) of it/.exec(prompt) ?? [];
          return group === undefined ? answer : groupOf(Number(group) - 1);
        },
      },
    };
    const deps: VaultCommandDeps = {
      operations: house.dispatch.operations,
      readInput: () => Promise.reject(new Error('nothing is piped')),
      passphraseFromFile: () => Promise.resolve(undefined),
      personBesidePipe: () => undefined,
    };
    expect(await runCommandLine(['vault', 'slot', 'add', 'recovery'], vaultCommands(deps), reading as never)).toBe(0);
    expect(shown.code).toMatch(/^([0-9A-Z]{4}-){7}[0-9A-Z]{4}$/);
    // It was shown to the person; what a pipe would have kept does not have it.
    expect(cli.stdout).toEqual(['The vault opens with the recovery code as well.']);
    expect(await slots()).toEqual(['key_file', 'recovery']);
  });

  test('[VAULT-4] a passphrase is chosen twice and has to be a decent one', async () => {
    for (const [answers, why] of [
      [['short', 'short'], 'needs at least 12 characters'],
      [['correct horse battery', 'correct horse batery'], 'the two differ'],
    ] as const) {
      const { code, said } = await run(['vault', 'slot', 'add', 'passphrase'], answers);
      expect([code, said]).toEqual([1, expect.stringContaining(why)]);
    }
    const words = ['vault', 'slot', 'add', 'passphrase', '--label', 'desk'];
    const { code } = await run(words, ['correct horse battery', 'correct horse battery', 'y', sesame]);
    expect(code).toBe(0);
    expect(await house.local('vault.slots')).toMatchObject([{}, {}, { kind: 'passphrase', label: 'desk', kdf: { passes: 3 } }]);
  });

  test('[VAULT-3] unlocking tries the machine first and asks nobody when that is enough', async () => {
    await house.local('vault.lock');
    const { code, cli } = await run(['vault', 'unlock'], []);
    expect([code, cli.prompts, cli.stdout]).toEqual([0, [], ['The vault is open.']]);
  });

  test('[VAULT-3] where the machine keeps nothing the passphrase is asked for, three times at most', async () => {
    const [file] = (await house.local('vault.slots')) as { id: string }[];
    await house.decide('vault.remove-slot', { id: file?.id ?? '' });
    await house.local('vault.lock');
    const wrong = await run(['vault', 'unlock'], ['a wrong passphrase', 'another wrong one', 'a third wrong one', 'never asked']);
    expect([wrong.code, wrong.cli.prompts.length]).toEqual([1, 3]);
    expect(wrong.said).not.toMatch(/wrong one|wrong passphrase/);
    const { code, cli } = await run(['vault', 'unlock'], ['a wrong passphrase', 'correct horse battery']);
    expect([code, cli.stdout]).toEqual([0, ['The vault is open.']]);
    expect(await house.local('vault.status')).toMatchObject({ state: 'open' });
  });

  test('[VAULT-2] with parameters below the floor nothing is derived, and nothing is sent', async () => {
    await house.local('vault.lock');
    const sent: string[] = [];
    const cli = scriptCli({ dispatch: house.dispatch, answers: ['correct horse battery'] });
    const lying = {
      ...cli,
      daemon: {
        ...cli.daemon,
        async operate(name: string, input: unknown, proof?: never, secrets?: object) {
          if (secrets !== undefined) sent.push(name);
          const output = await cli.daemon.operate(name, input, proof, secrets as never);
          if (name !== 'vault.slots') return output;
          return (output as object[]).map((slot) => ({
            ...slot,
            kdf: { kdf: 'argon2id', memory_kib: 8, passes: 1, parallelism: 1, salt: 'AAAA' },
          }));
        },
      },
    };
    const deps: VaultCommandDeps = {
      operations: house.dispatch.operations,
      readInput: () => Promise.reject(new Error('nothing is piped')),
      passphraseFromFile: () => Promise.resolve(undefined),
      personBesidePipe: () => undefined,
    };
    expect(await runCommandLine(['vault', 'unlock'], vaultCommands(deps), lying)).toBe(1);
    expect(sent).toEqual([]);
    expect(cli.stderr.join('\n')).toContain('it is not used');
  });
});

test('where there is no vault among the operations there are no commands of it', () => {
  const none = { operations: [] } as unknown as VaultCommandDeps;
  expect(vaultCommands(none)).toEqual([]);
  expect(() => operationNamed([], 'vault.unlock')).toThrow('there is no operation vault.unlock');
});
