// `/git-credential` at the agent door: the git of an agent asks for a token, or says that one was refused. Says who is asking (the agent's
// token, nothing else); whether there is a credential is the gateway's to say. Neither token goes into a log or a record.
import type { Dispatch } from '../../kernel/dispatch.ts';
import { AppError, asAppError } from '../../kernel/errors.ts';
import type { Json } from '../../kernel/json.ts';
import type { HttpHandler, HttpHead, HttpReply } from '../../wire/http-exchange.ts';
import { parseStrictJson } from '../../wire/strict-json.ts';
import { bodyOf, statusOf } from './answers.ts';

export const gitCredentialPath = '/git-credential';

/** As git calls what it asks of its helpers. */
const operations = new Map([
  ['get', 'gateway.git-credential'],
  ['erase', 'gateway.git-forget'],
]);

export interface GitDoorDeps {
  readonly agents: { authenticate(token: string): { readonly name: string; readonly state: string } | undefined };
  readonly dispatch: Pick<Dispatch, 'operate' | 'refused'>;
}

const headers = ['content-type', 'application/json', 'cache-control', 'no-store'];

/** Answers what is its own, and leaves everything else to `next`. */
export function createGitDoor({ agents, dispatch }: GitDoorDeps, next: HttpHandler): HttpHandler {
  return (head, reply) => {
    if (head.path !== gitCredentialPath) return next(head, reply);
    if (head.method !== 'POST') return refuse(reply, new AppError('invalid', 'git.bad_request', 'Use POST.'));
    const agent = identify(head);
    if (agent === undefined) {
      const hint = 'Put the token that "sallyport agent add" or "sallyport agent rotate" printed into SALLYPORT_TOKEN.';
      return refuse(reply, new AppError('unauthenticated', 'git.no_agent', 'No agent has this token.', { hint }));
    }
    const gone = new AbortController();
    reply.onGone(() => gone.abort());
    return (body) => {
      void answer(agent, body, gone.signal).then(
        (output) => reply.send(200, headers, JSON.stringify(output)),
        (thrown: unknown) => refuse(reply, asAppError(thrown)),
      );
    };
  };

  function identify({ headers: given }: HttpHead): string | undefined {
    const [, token] = /^bearer (\S+)$/i.exec(String(given['authorization'] ?? '')) ?? [];
    const agent = token === undefined ? undefined : agents.authenticate(token);
    if (agent !== undefined && agent.state !== 'revoked') return agent.name;
    dispatch.refused('agent', token === undefined ? 'no_token' : agent === undefined ? 'unknown_token' : 'revoked_token', {});
    return undefined;
  }

  async function answer(agent: string, body: string, signal: AbortSignal): Promise<unknown> {
    const { action, ...question } = asked(parseStrictJson(body));
    const operation = typeof action === 'string' ? operations.get(action) : undefined;
    if (operation === undefined) throw new AppError('invalid', 'git.bad_request', 'Ask to get or to erase.');
    return dispatch.operate({ kind: 'agent', agent, session: 'git' }, operation, question, signal);
  }
}

function asked(value: Json): { readonly [name: string]: Json } {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as { readonly [name: string]: Json };
  throw new AppError('invalid', 'git.bad_request', 'Send a JSON object.');
}

function refuse(reply: HttpReply, error: AppError): undefined {
  reply.send(statusOf(error.kind), headers, JSON.stringify(bodyOf(error)));
  return undefined;
}
