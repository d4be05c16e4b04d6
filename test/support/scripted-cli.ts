// A command line without a process: streams that are read back, a person who answers from a list, and the real local door in memory.
import type { Cli, DaemonLine, OperatorKeyring, Person } from '../../src/faces/cli/ports.ts';
import { createLocalDoor } from '../../src/faces/http/local-door.ts';
import type { Dispatch, Statement } from '../../src/kernel/dispatch.ts';
import type { CarriedSecrets } from '../../src/kernel/carried-secret.ts';
import { AppError, type ErrorKind } from '../../src/kernel/errors.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { encodeBase64url } from '../../src/lib/base64url.ts';
import { silentLog } from './silent-log.ts';
import type { TestOperator } from './test-operator.ts';

export interface ScriptedCli extends Cli {
  readonly stdout: string[];
  readonly stderr: string[];
  /** Prompts in order, `hidden` marked. */
  readonly prompts: string[];
}

export interface Script {
  readonly dispatch: Dispatch;
  readonly operator?: TestOperator;
  /** Answers of the person in order; absent = no terminal. */
  readonly answers?: readonly string[];
  /** What a passphrase file says; absent = none configured. */
  readonly passphraseFile?: string;
  readonly passphrase?: string;
  readonly now?: () => number;
}

export function scriptCli({
  dispatch,
  operator,
  answers,
  passphraseFile,
  passphrase = 'open sesame please',
  now = Date.now,
}: Script): ScriptedCli {
  const stdout: string[] = [];
  const stderr: string[] = [];
  const prompts: string[] = [];
  const left = [...(answers ?? [])];
  const answer = (prompt: string): Promise<string> => {
    prompts.push(prompt);
    const next = left.shift();
    return next === undefined ? Promise.reject(new AppError('denied', 'cli.interrupted', 'interrupted')) : Promise.resolve(next);
  };
  const person: Person = { ask: answer, askHidden: (prompt) => answer(`hidden ${prompt}`), release: () => undefined };
  const keyring: OperatorKeyring = {
    path: '/home/keys/operator.json',
    exists: () => Promise.resolve(operator !== undefined),
    unlock(given) {
      if (operator === undefined || given !== passphrase) {
        return Promise.reject(
          new AppError('denied', 'operator.wrong_passphrase', 'That passphrase does not open the operator key.'),
        );
      }
      let wiped = false;
      return Promise.resolve({
        keyId: operator.keyId,
        sign: (bytes) => (wiped ? new Uint8Array(64) : operator.signBytes(bytes)),
        wipe: () => (wiped = true),
      });
    },
    passphraseFromFile: () =>
      Promise.resolve(
        passphraseFile === undefined ? undefined : { passphrase: passphraseFile, method: 'passphrase_file' as const },
      ),
  };
  return {
    stdout,
    stderr,
    prompts,
    out: (text) => void stdout.push(text),
    note: (text) => void stderr.push(text),
    person: answers === undefined ? undefined : person,
    daemon: lineInMemory(dispatch),
    keyring,
    absolute: (path) => `/here/${path}`,
    now,
  };
}

function secretTexts(secrets: CarriedSecrets): object {
  const texts = Object.entries(secrets).map(([name, { value, salt }]) => [
    name,
    { value: encodeBase64url(value), salt: encodeBase64url(salt) },
  ]);
  return Object.fromEntries(texts) as object;
}

function lineInMemory(dispatch: Dispatch): DaemonLine {
  const door = createLocalDoor({ dispatch, log: silentLog(), status: () => ({ pid: 1 }) });
  async function ask(path: string, body?: object): Promise<unknown> {
    const response = await door.request(
      path,
      body === undefined ? {} : { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
    );
    const answer = (await response.json()) as { error?: { kind: ErrorKind; code: string; message: string; hint?: string } };
    const { error } = answer;
    if (error === undefined) return answer;
    throw new AppError(error.kind, error.code, error.message, error.hint === undefined ? {} : { hint: error.hint });
  }
  return {
    status: async () => (await ask('/v1/status')) as JsonObject,
    prepare: async (operation, input) => (await ask(`/v1/operations/${operation}/prepare`, { input })) as Statement,
    operate: async (operation, input, proof, secrets) =>
      (
        (await ask(`/v1/operations/${operation}`, {
          input,
          ...(proof === undefined ? {} : { proof }),
          ...(secrets === undefined ? {} : { secrets: secretTexts(secrets) }),
        })) as { output: unknown }
      ).output,
  };
}
