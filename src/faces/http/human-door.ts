// The human door: a static page, one for each approval, a health word, and operator operations that carry their own proof. Whoever reaches the port has
// no authority by that; the signature in the body has all of it. Refuses every name but its own.
import { Hono } from 'hono';
import type { Dispatch } from '../../kernel/dispatch.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/ports.ts';
import { printable } from '../../lib/printable.ts';
import { bodyOf } from './answers.ts';
import { approvalPage, noApprovalPage, type ApprovalNotice } from './approval-page.ts';
import { answerErrors } from './error-answers.ts';
import { refusalOf } from './guard.ts';
import { humanPage, stylePin } from './human-page.ts';
import { readOperationRequest } from './request-body.ts';

interface HumanDoorDeps {
  readonly dispatch: Dispatch;
  readonly log: Log;
  /** The door's own origin, `http://<name>.localhost:<port>`; known once it listens. */
  readonly origin: () => string;
  readonly approval: (id: string) => Promise<ApprovalNotice | undefined>;
}

/** Approvals are addressed by their ids, which nobody guesses. */
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const safety = {
  'Content-Security-Policy': `default-src 'none'; style-src '${stylePin}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/** `GET /` · `GET /approvals/:id` · `GET /health` · `POST /v1/operations/:name` `{input, proof}` → `{output}`; 404 otherwise, 403 for a foreign Host or Origin. */
export function createHumanDoor({ dispatch, log, origin, approval }: HumanDoorDeps): Hono {
  const door = new Hono();
  answerErrors(door, log, 'human');

  door.use('*', async (context, next) => {
    const headers = { host: context.req.header('host'), origin: context.req.header('origin') };
    const wrong = refusalOf(origin(), headers);
    for (const [name, value] of Object.entries(safety)) context.header(name, value);
    if (wrong !== undefined) throw refusal(dispatch, wrong, headers[wrong]);
    await next();
  });

  door.get('/', (context) => context.html(humanPage));
  door.get('/approvals/:id', async (context) => {
    const id = context.req.param('id');
    const found = uuid.test(id) ? await approval(id) : undefined;
    return found === undefined ? context.html(noApprovalPage, 404) : context.html(approvalPage(found));
  });
  door.get('/health', (context) => context.json({ status: 'ok' }));
  door.post('/v1/operations/:name', async (context) => {
    const name = context.req.param('name');
    // The same answer for an unknown operation and for one that is not the operator's: this door tells strangers nothing.
    const operation = dispatch.operations.find((candidate) => candidate.name === name && candidate.access === 'operator');
    if (operation === undefined) return context.notFound();
    const { input, proof } = await readOperationRequest(context);
    if (proof === undefined) {
      dispatch.refused('human', 'no_proof', { operation: name });
      throw new AppError(
        'unauthenticated',
        'operator.proof_required',
        'this door takes decisions that carry the operator’s signature, and nothing else',
        {
          hint: 'Decide with the sallyport command, which asks for the passphrase.',
        },
      );
    }
    return context.json({
      output: (await dispatch.operate({ kind: 'operator', proof }, name, input, context.req.raw.signal)) ?? null,
    });
  });
  return door;
}

function refusal(dispatch: Dispatch, wrong: 'host' | 'origin', value: string | undefined): AppError {
  dispatch.refused('human', `wrong_${wrong}`, { [wrong]: value === undefined ? null : printable(value.slice(0, 200)) });
  return new AppError('denied', `http.wrong_${wrong}`, 'this is not a name of this door');
}

/** The answer to a request whose Host cannot even stand in a URL, so that it never reaches the routes. */
export function refuseMalformed(dispatch: Dispatch): Response {
  return Response.json(bodyOf(refusal(dispatch, 'host', undefined)), { status: 403, headers: safety });
}
