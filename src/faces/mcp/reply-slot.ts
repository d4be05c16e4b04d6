// An answer over HTTP: one plain JSON body, unless another message comes first; then an event stream that ends with the answer.
import type { HeaderList, HttpReply } from '../../wire/http-exchange.ts';
import { encodeEvent, keepAliveEvent } from '../../wire/sse.ts';
import type { ReplySlot } from './in-flight.ts';

export const jsonHeaders = ['Content-Type', 'application/json'] as const;
/** `X-Accel-Buffering` keeps nginx from holding events back. */
export const streamHeaders = [
  'Content-Type',
  'text/event-stream',
  'Cache-Control',
  'no-cache, no-transform',
  'X-Accel-Buffering',
  'no',
] as const;

/** What the client takes, from its Accept header. */
export interface Accepted {
  readonly json: boolean;
  readonly stream: boolean;
}

/** Nothing goes before the answer while the client is this far behind with reading; the answer always goes. */
export const maxBacklogBytes = 1024 * 1024;

/** `headers` go with the answer, whatever form it takes. */
export function createReplySlot(reply: HttpReply, accepted: Accepted, headers: HeaderList = []): ReplySlot {
  let streaming = false;
  const open = (): void => {
    if (streaming) return;
    streaming = true;
    reply.open(headers.length === 0 ? streamHeaders : [...streamHeaders, ...headers]);
  };
  const slot: ReplySlot = {
    streams: accepted.stream,
    notice(message) {
      if (!accepted.stream || reply.backlog() > maxBacklogBytes) return false;
      open();
      reply.write(encodeEvent(message));
      return true;
    },
    keepAlive() {
      if (streaming) reply.write(keepAliveEvent);
    },
    answer(message, status = 200) {
      if (!streaming && (accepted.json || status !== 200)) {
        reply.send(status, headers.length === 0 ? jsonHeaders : [...jsonHeaders, ...headers], message);
        return;
      }
      open();
      reply.write(encodeEvent(message));
      reply.end();
    },
    answerInParts(parts) {
      if (streaming || !accepted.json) slot.answer(parts.join(''));
      else reply.send(200, headers.length === 0 ? jsonHeaders : [...jsonHeaders, ...headers], parts);
    },
    abandon() {
      if (streaming) reply.end();
      else reply.send(202, [], '');
    },
  };
  return slot;
}
