// A stream an upstream sends notices on: opened again, ever more patiently, when it ends, from where it ended where the upstream gives a
// position. Knows no message.
import type { AppError } from '../kernel/errors.ts';
import type { Clock, Unsubscribe } from '../kernel/ports.ts';
import { readAnswer } from './http-answer.ts';
import type { HttpClient, HttpExchange, HttpRequest } from './http-exchange.ts';
import type { HttpRefusal } from './http-faults.ts';

export interface NoticesDeps {
  readonly client: HttpClient;
  readonly clock: Clock;
  readonly maxBytes: number;
  /** `position` is where the last stream ended. */
  readonly request: (position: string | undefined) => HttpRequest;
  readonly receive: (text: string) => void;
  /** The stream is refused, after it was there (`worked`) or before. It is not opened again when this returns false. */
  readonly refused: (refusal: HttpRefusal, worked: boolean) => boolean;
  /** The upstream is not there any more; the stream is not opened again. */
  readonly unreachable: (error: AppError) => void;
}

export interface Notices {
  stop(): void;
}

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
/** A stream that lasted this long may be opened again without patience. */
const steadyMs = 10_000;

export function openNotices({ client, clock, maxBytes, request, receive, refused, unreachable }: NoticesDeps): Notices {
  let exchange: HttpExchange | undefined;
  let stopTimer: Unsubscribe | undefined;
  let position: string | undefined;
  let wishedMs: number | undefined;
  let pauseMs = firstPauseMs;
  let openedAt = Infinity;
  let worked = false;
  let stopped = false;

  function open(): void {
    exchange = client.start(
      request(position),
      readAnswer(
        {
          accepted() {
            worked = true;
            openedAt = clock.monotonic();
          },
          message: receive,
          position: (id) => {
            position = id;
          },
          retryAfter: (ms) => {
            wishedMs = ms;
          },
          refused(refusal) {
            if (refused(refusal, worked)) later();
          },
          done: later,
          failed(error) {
            if (error.code === 'fleet.unreachable') unreachable(error);
            // What is no stream of events will hardly become one.
            else if (worked || error.code !== 'fleet.protocol') later();
          },
        },
        maxBytes,
      ),
    );
  }

  function later(): void {
    exchange = undefined;
    if (stopped) return;
    if (clock.monotonic() - openedAt >= steadyMs) pauseMs = firstPauseMs;
    openedAt = Infinity;
    stopTimer = clock.after(Math.min(longestPauseMs, Math.max(pauseMs, wishedMs ?? 0)), open);
    pauseMs = Math.min(longestPauseMs, pauseMs * 2);
  }

  open();
  return {
    stop() {
      stopped = true;
      stopTimer?.();
      exchange?.abandon();
    },
  };
}
