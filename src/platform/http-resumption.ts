// Goes on reading the stream of one request after its connection ended, from the last event that came (Streamable HTTP, "Resumability and
// Redelivery"). Asks for what was missed and never sends the request again.
import type { Clock } from '../kernel/ports.ts';
import { readAnswer } from './http-answer.ts';
import type { HttpClient, HttpExchange, HttpRequest } from './http-exchange.ts';

export interface ResumptionDeps {
  readonly client: HttpClient;
  readonly clock: Clock;
  readonly maxBytes: number;
  /** `via` is the request whose stream it is. */
  readonly receive: (text: string, via: number) => void;
  readonly request: (position: string) => HttpRequest;
}

export interface Resumable {
  readonly position: string;
  /** As the upstream wishes. */
  readonly retryMs: number | undefined;
  /** Is the answer still wanted? */
  readonly waits: () => boolean;
  /** There will be none. */
  readonly fail: () => void;
}

export interface Resumption {
  resume(id: number, what: Resumable): void;
  /** The request was settled: whatever is read for it ends. */
  settled(id: number): void;
}

const usualPauseMs = 500;
/** Connections in a row that fail. */
const patience = 5;

export function createResumption({ client, clock, maxBytes, receive, request }: ResumptionDeps): Resumption {
  const reading = new Map<number, HttpExchange>();

  function later(id: number, what: Resumable, left: number): void {
    clock.after(what.retryMs ?? usualPauseMs, () => {
      if (what.waits()) read(id, what, left);
    });
  }

  function read(id: number, what: Resumable, left: number): void {
    let { position, retryMs } = what;
    const again = (failures: number): void => {
      reading.delete(id);
      if (!what.waits()) return;
      if (failures === 0) what.fail();
      else later(id, { ...what, position, retryMs }, failures);
    };
    const exchange = client.start(
      request(position),
      readAnswer(
        {
          message: (text) => receive(text, id),
          position: (eventId) => {
            position = eventId;
          },
          retryAfter: (ms) => {
            retryMs = ms;
          },
          refused() {
            reading.delete(id);
            what.fail();
          },
          // An upstream may end the connection as often as it likes; how long that may go on is for the deadline of the request.
          done: () => again(patience),
          failed: () => again(left - 1),
        },
        maxBytes,
      ),
    );
    reading.set(id, exchange);
  }

  return {
    resume: (id, what) => later(id, what, patience),
    settled(id) {
      reading.get(id)?.abandon();
      reading.delete(id);
    },
  };
}
