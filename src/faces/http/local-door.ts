// The local door: every operation that is not an agent's, over the unix socket. Whoever reaches the socket may look and narrow;
// authority to widen comes only with a proof. Refuses to know who else is on this machine.
import { Hono } from 'hono';
import { z } from 'zod';
import type { Caller } from '../../kernel/caller.ts';
import type { Dispatch } from '../../kernel/dispatch.ts';
import { AppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Operation } from '../../kernel/operation.ts';
import type { Log } from '../../kernel/ports.ts';
import { answerErrors } from './error-answers.ts';
import { readOperationRequest } from './request-body.ts';

interface LocalDoorDeps {
  readonly dispatch: Dispatch;
  readonly log: Log;
  /** What `sallyport status` prints: version, pid, urls, counts. */
  readonly status: () => JsonObject | Promise<JsonObject>;
}

/**
 * `GET /v1/status` · `GET /v1/operations` · `POST /v1/operations/:name/prepare` `{input}` → statement ·
 * `POST /v1/operations/:name` `{input, proof?, secrets?}` → `{output}`. Errors are `{error: {kind, code, message, hint?, retry_after_s?}}`.
 */
export function createLocalDoor({ dispatch, log, status }: LocalDoorDeps): Hono {
  const door = new Hono();
  answerErrors(door, log, 'local');
  const served = dispatch.operations.filter((operation) => operation.access !== 'agent');
  const names = new Set(served.map((operation) => operation.name));

  const assertServed = (name: string): void => {
    if (!names.has(name)) throw new AppError('not_found', 'http.unknown_operation', `there is no operation '${name}' at this door`);
  };

  door.get('/v1/status', async (context) => context.json(await status()));
  door.get('/v1/operations', (context) => context.json({ operations: served.map(describe) }));
  door.post('/v1/operations/:name/prepare', async (context) => {
    const name = context.req.param('name');
    assertServed(name);
    const { input, proof, secrets } = await readOperationRequest(context);
    if (secrets !== undefined) throw new AppError('invalid', 'http.bad_request', 'a statement is prepared without the secrets');
    if (proof !== undefined) throw new AppError('invalid', 'http.bad_request', 'a statement is prepared before there is a proof');
    return context.json(await dispatch.prepare({ kind: 'local' }, name, input, context.req.raw.signal));
  });
  door.post('/v1/operations/:name', async (context) => {
    const name = context.req.param('name');
    assertServed(name);
    const { input, proof, secrets } = await readOperationRequest(context);
    const caller: Caller = proof === undefined ? { kind: 'local' } : { kind: 'operator', proof };
    return context.json({ output: (await dispatch.operate(caller, name, input, context.req.raw.signal, secrets)) ?? null });
  });
  return door;
}

function describe(operation: Operation): object {
  return {
    name: operation.name,
    summary: operation.summary,
    access: operation.access,
    effect: operation.effect,
    ...(operation.command === undefined ? {} : { command: operation.command.words }),
    input: z.toJSONSchema(operation.input, { io: 'input', unrepresentable: 'any' }),
  };
}
