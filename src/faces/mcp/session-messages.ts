// What a session's client is told outside of any answer, and on which of its streams: that of a call in flight, or the one it listens
// on. Keeps a few notices for a client that is between two streams. Knows no transport and asks nothing.
import type { RequestId } from '../../wire/jsonrpc.ts';
import type { CallInFlight, NoticeStream, ReplySlot } from './in-flight.ts';

export interface Streams {
  readonly calls: Map<RequestId, CallInFlight>;
  /** The stream its client listens on (GET). */
  stream: NoticeStream | undefined;
  /** Notices that came while nobody listened, whole and each once. */
  missed: ReadonlySet<string>;
}

/** Sessions are many, and most miss nothing. */
export const nothingMissed: ReadonlySet<string> = new Set();

/** Above the number of lists, and of resources that a client follows and that change while it reconnects. */
const maxMissed = 64;
/** UTF-16 units of one notice. Those of the protocol that are kept are short. */
const maxMissedLength = 4_096;

/** Something about the work of a call: on the newest call that streams, else where the client listens. False: nobody took it. */
export function offerOnCall(session: Streams, message: string): boolean {
  return newestStreaming(session)?.notice(message) === true || session.stream?.offer(message) === true;
}

/** Something about the session: where the client listens, or kept for when it does. */
export function tellSession(session: Streams, message: string): void {
  if (session.stream === undefined) keep(session, message);
  else session.stream.send(message);
}

/** `stream` takes the place of the one there was, and begins with what was missed. */
export function listenOn(session: Streams, stream: NoticeStream): void {
  hangUp(session);
  session.stream = stream;
  const { missed } = session;
  session.missed = nothingMissed;
  for (const message of missed) stream.send(message);
}

export function hangUp(session: Streams): void {
  session.stream?.end();
  session.stream = undefined;
}

function keep(session: Streams, message: string): void {
  if (session.missed.size >= maxMissed || message.length > maxMissedLength) return;
  session.missed = new Set([...session.missed, message]);
}

/** Nothing says which call a message belongs to; the one begun last is the likeliest. */
function newestStreaming({ calls }: Streams): ReplySlot | undefined {
  let newest: ReplySlot | undefined;
  for (const { slot } of calls.values()) if (slot.streams) newest = slot;
  return newest;
}
