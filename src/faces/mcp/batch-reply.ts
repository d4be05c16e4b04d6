// The answers of a JSON-RPC batch over HTTP: one array when all are there, in the order of the requests, unless another message comes
// first; then an event stream that ends with the last answer. Knows nothing of what is answered.
import type { HttpReply } from '../../wire/http-exchange.ts';
import { encodeEvent, keepAliveEvent } from '../../wire/sse.ts';
import type { ReplySlot } from './in-flight.ts';
import { jsonHeaders, maxBacklogBytes, streamHeaders, type Accepted } from './reply-slot.ts';

/** One slot for each of `count` answers, at least one. */
export function createBatchReply(reply: HttpReply, accepted: Accepted, count: number): readonly ReplySlot[] {
  const answers: (string | undefined)[] = Array.from({ length: count });
  let open = count;
  let streaming = false;

  function startStream(): void {
    if (streaming) return;
    streaming = true;
    reply.open(streamHeaders);
    for (const answer of answers) if (answer !== undefined) reply.write(encodeEvent(answer));
  }

  function settle(): void {
    open -= 1;
    if (open > 0) return;
    const given = answers.filter((answer) => answer !== undefined);
    // All of them were taken back.
    if (!streaming && given.length === 0) return reply.send(202, [], '');
    if (!streaming && accepted.json) return reply.send(200, jsonHeaders, `[${given.join(',')}]`);
    startStream();
    reply.end();
  }

  return Array.from({ length: count }, (_, at) => ({
    streams: accepted.stream,
    notice(message) {
      if (!accepted.stream || reply.backlog() > maxBacklogBytes) return false;
      startStream();
      reply.write(encodeEvent(message));
      return true;
    },
    keepAlive() {
      if (streaming && at === 0) reply.write(keepAliveEvent);
    },
    answer(message) {
      if (streaming) reply.write(encodeEvent(message));
      else answers[at] = message;
      settle();
    },
    abandon: settle,
  }));
}
