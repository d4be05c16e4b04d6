// The messages a peer sends, each a POST of its own, and the answers that come back on them. What a POST without an answer means is the
// business of whoever keeps the session.
import type { AppError } from '../kernel/errors.ts';
import type { Clock } from '../kernel/ports.ts';
import { createNumbered } from '../lib/numbered.ts';
import { readAnswer } from './http-answer.ts';
import type { HttpClient, HttpExchange, HttpHead, Route } from './http-exchange.ts';
import type { HttpRefusal } from './http-faults.ts';

export interface PostsDeps {
  readonly client: HttpClient;
  readonly clock: Clock;
  readonly maxBytes: number;
  /** `via` is the request whose answer the message came in; absent for one that waits for none. */
  readonly receive: (text: string, via?: number) => void;
  /** The head of an answer to this request that is no refusal. */
  readonly accepted?: (id: number, head: HttpHead) => void;
  /** `id` is `undefined` for a message that waits for no answer. */
  readonly refused: (id: number | undefined, refusal: HttpRefusal) => void;
  /** The exchange of a request is over; if it still waits, it has no answer. */
  readonly over: (id: number, end: PostEnd) => void;
}

export interface PostEnd {
  /** Why the connection ended early; absent when the response was complete. */
  readonly error?: AppError;
  /** Where its stream can be resumed, and how long to wait before. */
  readonly position: string | undefined;
  readonly retryMs: number | undefined;
}

export interface Post {
  readonly route: Route;
  readonly headers: readonly string[];
  readonly line: string;
  readonly id: number | undefined;
  readonly repeatable: boolean;
}

export interface Posts {
  send(post: Post): void;
  /** The request was settled: with an answer its exchange may still end by itself, without one it is closed now. */
  settled(id: number, answered: boolean): void;
  /** Resolves when every message that was sent without an id has arrived or failed, and after `ms` in any case. */
  told(ms: number): Promise<void>;
  stop(): void;
}

/** A stream that goes on after its answer is not for us; this long it may take to end. */
const lingerMs = 2_000;

export function createPosts({ client, clock, maxBytes, receive, accepted, refused, over }: PostsDeps): Posts {
  const running = createNumbered<HttpExchange>();
  const telling = new Set<HttpExchange>();
  let quiet: (() => void)[] = [];

  function tell({ route, headers, line }: Post): void {
    const end = (): void => {
      telling.delete(exchange);
      if (telling.size > 0) return;
      for (const resolve of quiet) resolve();
      quiet = [];
    };
    const exchange = client.start(
      { method: 'POST', route, headers, body: line },
      readAnswer(
        {
          message: (text) => receive(text),
          refused(refusal) {
            end();
            refused(undefined, refusal);
          },
          done: end,
          failed: end,
        },
        maxBytes,
      ),
    );
    telling.add(exchange);
  }

  function ask({ route, headers, line, repeatable }: Post, id: number): void {
    let position: string | undefined;
    let retryMs: number | undefined;
    const exchange = client.start(
      { method: 'POST', route, headers, body: line, repeatable },
      readAnswer(
        {
          accepted: (head) => accepted?.(id, head),
          message: (text) => receive(text, id),
          position: (eventId) => {
            position = eventId;
          },
          retryAfter: (ms) => {
            retryMs = ms;
          },
          refused(refusal) {
            running.take(id);
            refused(id, refusal);
          },
          done() {
            running.take(id);
            over(id, { position, retryMs });
          },
          failed(error) {
            running.take(id);
            over(id, { error, position, retryMs });
          },
        },
        maxBytes,
      ),
    );
    running.put(id, exchange);
  }

  function abandon(id: number): void {
    running.take(id)?.abandon();
  }

  return {
    send(post) {
      if (post.id === undefined) tell(post);
      else ask(post, post.id);
    },
    settled(id, answered) {
      if (running.get(id) === undefined) return;
      if (!answered) abandon(id);
      else clock.after(lingerMs, () => abandon(id));
    },
    told: (ms) =>
      new Promise((resolve) => {
        if (telling.size === 0) {
          resolve();
          return;
        }
        const stopTimer = clock.after(ms, resolve);
        quiet.push(() => {
          stopTimer();
          resolve();
        });
      }),
    stop() {
      for (const [id] of running.all()) abandon(id);
      for (const exchange of telling) exchange.abandon();
      telling.clear();
    },
  };
}
