// Runs our own operations for every kind of caller: parses the input, holds access to what the operation declares, and for a
// person's decision checks the signature against what is true now (DESIGN invariants 3 and 4).
import { canonicalJson } from '../../lib/canonical-json.ts';
import { actorOf, type AgentCaller, type Caller } from '../../kernel/caller.ts';
import type { CarriedSecrets } from '../../kernel/carried-secret.ts';
import type { Statement, ToolAnswer, ToolCall } from '../../kernel/dispatch.ts';
import { AppError, asAppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Operation, OperationContext } from '../../kernel/operation.ts';
import type { Digest } from '../../kernel/ports.ts';
import type { Audit } from '../audit/audit.ts';
import type { Operator } from '../operator/operator.ts';
import { carriedSecrets, wipe } from './carried-secrets.ts';
import { parseInput } from './misuse.ts';

interface OperationDeps {
  readonly operations: readonly Operation[];
  readonly audit: Audit;
  readonly operator: Operator;
  readonly digest: Pick<Digest, 'sha256'>;
}

export interface OwnOperations {
  call(caller: AgentCaller, operation: Operation, call: ToolCall): Promise<ToolAnswer>;
  operate(caller: Caller, name: string, input: unknown, signal: AbortSignal, secrets?: CarriedSecrets): Promise<unknown>;
  prepare(caller: Caller, name: string, input: unknown, signal: AbortSignal): Promise<Statement>;
}

export function createOperations({ operations, audit, operator, digest }: OperationDeps): OwnOperations {
  const byName = new Map(operations.map((operation) => [operation.name, operation]));

  function named(name: string): Operation {
    const operation = byName.get(name);
    if (operation === undefined) throw new AppError('not_found', 'gateway.unknown_operation', `There is no operation '${name}'.`);
    return operation;
  }

  function refuse(caller: Caller, operation: Operation, error: AppError): never {
    audit.appendQuietly({
      event: 'operation.refused',
      actor: actorOf(caller),
      facts: { operation: operation.name, code: error.code },
    });
    throw error;
  }

  function assertReachable(caller: Caller, operation: Operation): void {
    const isAgent = caller.kind === 'agent';
    if (isAgent === (operation.access === 'agent')) return;
    refuse(
      caller,
      operation,
      new AppError('denied', 'gateway.not_reachable', `'${operation.name}' is not for ${isAgent ? 'agents' : 'this door'}.`),
    );
  }

  /** Looks answer without a log; a change is refused before a person signs for it and before a signature is used up. */
  function assertRecordable({ effect }: Operation): void {
    if (effect === 'change') audit.assertAvailable();
  }

  /** Consumes the proof, then holds what was shown against what is true now. */
  async function prove(operation: Operation, input: unknown, context: OperationContext): Promise<OperationContext> {
    if (context.caller.kind !== 'operator') {
      const message = `'${operation.name}' is the operator's decision and needs the operator's signature.`;
      const hint = 'Run it with the sallyport command, which asks for the passphrase.';
      return refuse(context.caller, operation, new AppError('denied', 'operator.proof_required', message, { hint }));
    }
    const verified = operator.verify(operation.name, plain(input), context.caller.proof);
    const shown = await shownNow(operation, input, context).catch((thrown: unknown) =>
      // What was signed for cannot even be shown any more: decided already, gone, denied since.
      refuse(context.caller, operation, asAppError(thrown)),
    );
    if (canonicalJson(shown) !== canonicalJson(verified.statement.shown)) {
      const message = 'What was shown has changed since it was signed; nothing was done.';
      const hint = 'Look at it again and decide anew.';
      refuse(context.caller, operation, new AppError('conflict', 'operator.changed', message, { hint }));
    }
    await operator.keep(verified);
    return { ...context, proofFacts: verified.facts };
  }

  function withSecrets(operation: Operation, input: unknown, context: OperationContext, carried: CarriedSecrets): OperationContext {
    if (operation.secrets === undefined && Object.keys(carried).length === 0) return context;
    try {
      return { ...context, secrets: carriedSecrets(operation, input, carried, digest) };
    } catch (thrown) {
      return refuse(context.caller, operation, asAppError(thrown));
    }
  }

  return {
    async call(caller, operation, call) {
      assertReachable(caller, operation);
      const input = parseInput(operation, call.args ?? {});
      assertRecordable(operation);
      const { onProgress, host } = call;
      const context: OperationContext = {
        caller,
        signal: call.signal,
        canProgress: onProgress !== undefined,
        ...(host === undefined ? {} : { host }),
        progress: (note) => onProgress?.({ ...note }),
      };
      return { kind: 'operation', operation, output: await operation.run(input, context) };
    },

    async operate(caller, name, raw, signal, carried = {}) {
      try {
        const operation = named(name);
        assertReachable(caller, operation);
        const input = parseInput(operation, raw);
        assertRecordable(operation);
        const plain = plainContext(caller, signal);
        const context = operation.access === 'operator' ? await prove(operation, input, plain) : plain;
        return await operation.run(input, withSecrets(operation, input, context, carried));
      } finally {
        wipe(carried);
      }
    },

    async prepare(caller, name, raw, signal) {
      const operation = named(name);
      assertReachable(caller, operation);
      if (operation.access !== 'operator') {
        throw new AppError('invalid', 'gateway.misuse', `'${name}' needs no signature; run it directly.`);
      }
      const input = parseInput(operation, raw);
      assertRecordable(operation);
      return operator.prepare(name, plain(input), await shownNow(operation, input, plainContext(caller, signal)));
    },
  };
}

async function shownNow(operation: Operation, input: unknown, context: OperationContext): Promise<JsonObject> {
  return plain(await operation.shown?.(input, context));
}

function plainContext(caller: Caller, signal: AbortSignal): OperationContext {
  return { caller, signal, canProgress: false, progress: () => undefined };
}

/** The value as JSON has it: members that are `undefined` are gone, so that it equals itself after a trip over the wire. */
function plain(value: unknown): JsonObject {
  return JSON.parse(JSON.stringify(value ?? {})) as JsonObject;
}
