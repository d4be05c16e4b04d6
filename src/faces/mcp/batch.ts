// A JSON-RPC batch in a session whose revision has them (2025-03-26): several messages in one array, each of them served as if it had
// come alone. The array itself is refused whole when its answers could not be told apart or kept.
import type { Json } from '../../kernel/json.ts';
import type { HttpReply } from '../../wire/http-exchange.ts';
import { splitBatch } from '../../wire/frame-slice.ts';
import { encodeError, readMessage, rpcCode, type Message, type RequestId } from '../../wire/jsonrpc.ts';
import { createBatchReply } from './batch-reply.ts';
import type { McpEndpoint } from './endpoint.ts';
import type { ReplySlot } from './in-flight.ts';
import type { Accepted } from './reply-slot.ts';
import type { Session } from './sessions.ts';

/** Messages in one batch. */
export const maxBatch = 64;

/** Why the array is refused whole, worded for its sender; `undefined` when it is not. */
export function batchFault({ era, version }: Session, members: readonly Json[]): string | undefined {
  if (!era.hasBatches(version))
    return `JSON-RPC batches exist in 2025-03-26 only, and this session speaks ${version}. Send each message in a request of its own.`;
  if (members.length === 0) return 'The batch is empty. Send at least one message, or none at all.';
  if (members.length > maxBatch) return `The batch has ${members.length} messages, and ${maxBatch} are the most. Send it in parts.`;
  const ids = new Set<RequestId>();
  for (const message of members.map(readMessage)) {
    if (message.kind !== 'request') continue;
    if (ids.has(message.id)) return `The id ${JSON.stringify(message.id).slice(0, 64)} is in the batch twice. Use every id once.`;
    ids.add(message.id);
  }
  return undefined;
}

/** `body` is the text of `members`, which have no fault. */
export function serveBatch(
  endpoint: Pick<McpEndpoint, 'request' | 'notify' | 'answered' | 'spoiled' | 'dropped'>,
  session: Session,
  { members, body, accepted }: { readonly members: readonly Json[]; readonly body: string; readonly accepted: Accepted },
  reply: HttpReply,
): void {
  const texts = splitBatch(body);
  const messages = members.map(readMessage);
  const count = messages.filter(isAnswered).length;
  const slots = count === 0 ? [] : createBatchReply(reply, accepted, count);
  if (count === 0) reply.send(202, [], '');
  const requests: (readonly [RequestId, ReplySlot])[] = [];
  reply.onGone(() => {
    for (const [id, slot] of requests) endpoint.dropped(session, id, slot);
  });
  let next = 0;
  for (const [at, message] of messages.entries()) {
    const text = texts[at] ?? '';
    if (message.kind === 'notification') endpoint.notify(session, message);
    if (message.kind === 'response') endpoint.answered(session, message, text);
    if (message.kind === 'invalid') endpoint.spoiled(session, text, message.why);
    if (!isAnswered(message)) continue;
    const slot = slots[next]!;
    next += 1;
    const why = refusalOf(message);
    if (why !== undefined || message.kind !== 'request') {
      slot.answer(encodeError('id' in message ? message.id : null, rpcCode.invalidRequest, why ?? ''));
      continue;
    }
    requests.push([message.id, slot]);
    endpoint.request(session, message, slot);
  }
}

function isAnswered({ kind }: Message): boolean {
  return kind !== 'notification' && kind !== 'response';
}

/** What cannot be a member (2025-03-26, Lifecycle: initialize MUST NOT be part of a batch). */
function refusalOf(message: Message): string | undefined {
  if (message.kind === 'invalid') return message.why;
  if (message.kind === 'batch') return 'A batch holds messages, not batches.';
  if (message.kind === 'request' && message.method === 'initialize') return 'initialize stands alone, never in a batch.';
  return undefined;
}
