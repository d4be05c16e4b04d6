// One POST of 2026-07-28: its head is judged, then it is answered for itself. No session is asked for, looked at or given; closing the
// connection is how a client takes a request back. Knows no token and no route.
import type { ToolScope } from '../../kernel/dispatch.ts';
import type { HttpHead, HttpReply } from '../../wire/http-exchange.ts';
import { encodeError, rpcCode, type ErrorId, type Message } from '../../wire/jsonrpc.ts';
import { paramMismatch } from '../../wire/mirrored-params.ts';
import { claimedVersion } from '../../wire/request-envelope.ts';
import { headFault, headerMismatch, type Refusal } from '../../wire/stateless-head.ts';
import { createNoticeStream } from './notice-stream.ts';
import { createReplySlot, jsonHeaders, type Accepted } from './reply-slot.ts';
import { single } from './request-head.ts';
import type { StatelessServer } from './stateless.ts';

/** True for a head that names a revision without sessions. */
export function isStatelessHead({ headers }: HttpHead, { versions }: StatelessServer): boolean {
  const version = single(headers, 'mcp-protocol-version');
  return version !== undefined && versions.includes(version);
}

/**
 * Which era a message is of: one that claims a revision in `_meta` stands for itself, and so does every other whose head `named` one.
 * Only `initialize` without a claim begins a session whatever the head says, as some clients always send their newest there.
 */
export function standsAlone(message: Message, named: boolean): boolean {
  if (message.kind !== 'request' && message.kind !== 'notification') return named;
  if (claimedVersion(message.params) !== undefined) return true;
  return named && message.method !== 'initialize';
}

export function serveStateless(
  server: StatelessServer,
  from: { readonly head: HttpHead; readonly agent: string; readonly scope: ToolScope; readonly accepted: Accepted },
  message: Message,
  reply: HttpReply,
): void {
  const { head, agent, scope, accepted } = from;
  // No notification is defined over HTTP in this revision; what comes is taken and forgotten.
  if (message.kind === 'notification') return reply.send(202, [], '');
  if (message.kind !== 'request') {
    const why = 'A client sends requests only: what a server asks comes in a result, and is answered by asking again.';
    return refuse(reply, undefined, { status: 400, code: rpcCode.invalidRequest, message: why });
  }
  const { id } = message;
  const fault = headFault(message, head.headers, server.versions, server.supported);
  if (fault !== undefined) return refuse(reply, id, fault);
  const asked = server.read(message, scope);
  if (asked.kind === 'refused') return refuse(reply, id, asked);
  if (asked.kind === 'listen') {
    if (!accepted.stream) return refuse(reply, id, streamOnly);
    const refusal = server.listen(
      agent,
      scope,
      id,
      asked,
      createNoticeStream(reply, (stream) => server.unlisten(agent, stream)),
    );
    return refusal === undefined ? undefined : reply.send(200, jsonHeaders, refusal);
  }
  if (asked.kind === 'call_tool') {
    const differs = paramMismatch(server.mirrored(agent, scope, asked.name), asked.args, head.headers);
    if (differs !== undefined) return refuse(reply, id, headerMismatch(differs));
  }
  const slot = createReplySlot(reply, accepted);
  reply.onGone(() => server.dropped(agent, slot));
  return server.answer(agent, scope, id, asked, slot);
}

const streamOnly: Refusal = { status: 406, code: rpcCode.invalidRequest, message: 'Accept text/event-stream.' };

function refuse(reply: HttpReply, id: ErrorId, { status, code, message, data }: Refusal): void {
  reply.send(status, jsonHeaders, encodeError(id, code, message, data));
}
