// A Dispatch of a handful of operations for tests of the doors and the command line: real schemas, real signatures, no gateway.
import { z } from 'zod';
import { signingInput, statementText, possessionInput } from '../../src/features/operator/model.ts';
import type { Proof } from '../../src/kernel/caller.ts';
import type { Dispatch, Statement } from '../../src/kernel/dispatch.ts';
import { AppError, type ErrorKind } from '../../src/kernel/errors.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { defineOperation, type Operation } from '../../src/kernel/operation.ts';
import { decodeBase64url } from '../../src/lib/base64url.ts';
import { createDigest, createVerifier } from '../../src/platform/crypto.ts';

export interface SmallDispatch extends Dispatch {
  /** What happened, in order: `did notes.add {"text":"a"} by operator`, `refused human wrong_host`. */
  readonly journal: string[];
  operatorKey: string | undefined;
  /** Makes the daemon lie about what is to be signed. */
  twist: (statement: Statement) => Statement;
}

const kinds = ['invalid', 'unauthenticated', 'denied', 'not_found', 'conflict', 'limited', 'unavailable', 'internal'] as const;
const installation = 'inst-1';

export function smallOperations(
  journal: string[] = [],
  seat: { operatorKey: string | undefined } = { operatorKey: undefined },
): Operation[] {
  const notes: { id: number; text: string; tags: string[] }[] = [];
  return [
    defineOperation<
      { text: string; tag?: string[] | undefined; env?: Record<string, string> | undefined },
      { id: number; token: string }
    >({
      name: 'notes.add',
      summary: 'Add a note.',
      input: z.strictObject({
        text: z.string().min(2, 'must have at least 2 characters').describe('What it says.'),
        tag: z.array(z.string()).optional().describe('A label.'),
        env: z.record(z.string(), z.string()).optional(),
      }),
      output: z.strictObject({ id: z.number(), token: z.string() }),
      effect: 'change',
      access: 'operator',
      command: { words: 'note add', positionals: ['text'] },
      shown: ({ text }) => Promise.resolve({ count: notes.length, exactly: text }),
      run({ text, tag }) {
        notes.push({ id: notes.length + 1, text, tags: tag ?? [] });
        return Promise.resolve({ id: notes.length, token: 'T' });
      },
    }),
    defineOperation<{ limit: number; order: 'up' | 'down'; done: boolean }, typeof notes>({
      name: 'notes.list',
      summary: 'List the notes.',
      input: z.strictObject({
        limit: z.int().min(1).default(10).describe('At most so many.'),
        order: z.enum(['up', 'down']).default('up'),
        done: z.boolean().default(false).describe('Also those that are done.'),
      }),
      output: z.array(z.strictObject({ id: z.number(), text: z.string(), tags: z.array(z.string()) })),
      effect: 'look',
      access: 'local',
      command: { words: 'note list' },
      run: ({ limit }) => Promise.resolve(notes.slice(0, limit)),
    }),
    defineOperation<{ name: string; command: string[]; fails?: ErrorKind | undefined }, { ok: boolean }>({
      name: 'notes.check',
      summary: 'Check a note with a command.',
      input: z.strictObject({ name: z.string(), command: z.array(z.string()).min(1), fails: z.enum(kinds).optional() }),
      output: z.strictObject({ ok: z.boolean() }),
      effect: 'look',
      access: 'local',
      command: {
        words: 'note check',
        positionals: ['name'],
        rest: 'command',
        draw: (output: { ok: boolean }) => (output.ok ? 'good' : 'bad'),
      },
      run({ name, fails }) {
        if (fails !== undefined) {
          throw new AppError(fails, `notes.${fails}`, `refused: ${name}`, {
            hint: 'Do it otherwise.',
            ...(fails === 'limited' ? { retryAfterMs: 1500 } : {}),
          });
        }
        return Promise.resolve({ ok: name !== 'wrong' });
      },
    }),
    defineOperation<{ name: string }, { agent: string; token: string }>({
      name: 'agents.add',
      summary: 'Add an agent.',
      input: z.strictObject({ name: z.string() }),
      output: z.strictObject({ agent: z.string(), token: z.string() }),
      effect: 'change',
      access: 'operator',
      command: { words: 'agent add', positionals: ['name'] },
      run: ({ name }) => Promise.resolve({ agent: name, token: 'token-shown-once' }),
    }),
    defineOperation<{ name: string; command: string[] }, object>({
      name: 'upstreams.add',
      summary: 'Add an upstream.',
      input: z.strictObject({ name: z.string(), command: z.array(z.string()).min(1) }),
      output: z.looseObject({}),
      effect: 'change',
      access: 'operator',
      command: { words: 'upstream add', positionals: ['name'], rest: 'command' },
      run: ({ name, command }) => Promise.resolve({ added: name, command }),
    }),
    defineOperation<object, object>({
      name: 'notes.mine',
      summary: 'For agents only.',
      input: z.strictObject({}),
      output: z.strictObject({}),
      effect: 'look',
      access: 'agent',
      run: () => Promise.resolve({}),
    }),
    defineOperation<object, object>({
      name: 'operator.status',
      summary: 'Show the operator.',
      input: z.strictObject({}),
      output: z.looseObject({}),
      effect: 'look',
      access: 'local',
      run: () => Promise.resolve({ installation, exists: seat.operatorKey !== undefined }),
    }),
    defineOperation<{ publicKey: string; possession: string }, object>({
      name: 'operator.create',
      summary: 'Seat the operator.',
      input: z.strictObject({ publicKey: z.string(), possession: z.string() }),
      output: z.looseObject({}),
      effect: 'change',
      access: 'local',
      run({ publicKey, possession }) {
        const valid = createVerifier().verify(bytes(publicKey), possessionInput(installation, publicKey), bytes(possession));
        if (!valid || seat.operatorKey !== undefined) throw new AppError('conflict', 'operator.exists', 'The seat is taken.');
        seat.operatorKey = publicKey;
        journal.push('seated');
        return Promise.resolve({});
      },
    }),
  ];
}

export function createSmallDispatch(now: () => number = Date.now): SmallDispatch {
  const journal: string[] = [];
  const statements = new Map<string, Statement>();
  const seat: { operatorKey: string | undefined } = { operatorKey: undefined };
  const operations = smallOperations(journal, seat);
  const context = (caller: Parameters<Dispatch['operate']>[0], signal: AbortSignal) => ({
    caller,
    signal,
    canProgress: false,
    progress: () => undefined,
  });
  const named = (name: string): Operation => {
    const found = operations.find((operation) => operation.name === name);
    if (found === undefined) throw new AppError('not_found', 'gateway.unknown_operation', `There is no operation '${name}'.`);
    return found;
  };
  const assertProof = (proof: Proof): void => {
    const statement = statements.get(proof.challenge);
    statements.delete(proof.challenge);
    const key = bytes(seat.operatorKey ?? '');
    if (
      statement === undefined ||
      !createVerifier().verify(
        key,
        signingInput(createDigest().sha256(statementText(statement)), proof.method),
        bytes(proof.signature),
      )
    ) {
      throw new AppError('denied', 'operator.proof_invalid', 'This is no valid signature.');
    }
  };
  const dispatch: SmallDispatch = {
    journal,
    operations,
    twist: (statement) => statement,
    get operatorKey() {
      return seat.operatorKey;
    },
    set operatorKey(key) {
      seat.operatorKey = key;
    },
    tools: () => [],
    callTool: () => Promise.reject(new Error('no agent door here')),
    list: () => [],
    offering: () => ({ prompts: false, resources: false, completions: false, logging: false, subscriptions: false }),
    follow: () => Promise.reject(new Error('no agent door here')),
    unfollow: () => undefined,
    setLogLevel: () => undefined,
    rootsChanged: () => undefined,
    relay: () => Promise.reject(new Error('no agent door here')),
    onListChanged: () => () => undefined,
    sessionEnded: () => undefined,
    refused: (door, reason, facts) => void journal.push(`refused ${door} ${reason} ${JSON.stringify(facts)}`),
    async operate(caller, name, input, signal) {
      const operation = named(name);
      if (operation.access === 'operator') {
        if (caller.kind !== 'operator') throw new AppError('denied', 'operator.proof_required', 'It needs a signature.');
        assertProof(caller.proof);
      }
      const parsed = operation.input.parse(input);
      const output = await operation.run(parsed, context(caller, signal));
      if (operation.effect === 'change')
        journal.push(`did ${name} ${JSON.stringify(parsed)} by ${caller.kind === 'operator' ? caller.proof.method : caller.kind}`);
      return output;
    },
    async prepare(caller, name, input, signal) {
      if (seat.operatorKey === undefined)
        throw new AppError('conflict', 'operator.absent', 'There is no operator yet.', {
          hint: 'Create it with: sallyport operator init.',
        });
      const operation = named(name);
      const parsed = operation.input.parse(input);
      const shown = (await operation.shown?.(parsed, context(caller, signal))) ?? {};
      const statement: Statement = {
        v: 1,
        purpose: 'sallyport/operator-statement',
        installation,
        operation: name,
        input: JSON.parse(JSON.stringify(parsed)) as JsonObject,
        shown,
        challenge: `c${statements.size + journal.length}-${now()}`,
        issuedAt: new Date(now()).toISOString(),
        expiresAt: new Date(now() + 300_000).toISOString(),
      };
      statements.set(statement.challenge, statement);
      return dispatch.twist(statement);
    },
  };
  return dispatch;
}

function bytes(text: string): Uint8Array {
  return decodeBase64url(text) ?? new Uint8Array();
}
