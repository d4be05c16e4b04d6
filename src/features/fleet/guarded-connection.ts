// A connection with an upstream that was given secrets: whatever it says, answers and errors and notices and last words, is searched for
// them before anybody else hears it (DESIGN invariant 5). What is said to it passes untouched. Knows neither secret nor policy.
import type { ClientHost } from '../../kernel/client-host.ts';
import { AppError, asAppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { UpstreamConnection, UpstreamReply, UpstreamRequestOptions } from '../../kernel/ports.ts';
import type { ValueSearch } from '../../lib/value-search.ts';

/** Asked each time: it changes with the values. */
export type CurrentSearch = () => ValueSearch | undefined;

export interface Guard {
  connection(inner: UpstreamConnection): GuardedConnection;
  /** The same object for the same host, so that identity still tells clients apart. */
  host(host: ClientHost): ClientHost;
  /** The same error where nothing was found in it. */
  error(thrown: unknown): AppError;
}

export interface GuardedConnection extends UpstreamConnection {
  /** Requests that wait for their answer. */
  inFlight(): number;
  /** Resolves when none does. */
  idle(): Promise<void>;
}

export function createGuard(search: CurrentSearch): Guard {
  const hosts = new WeakMap<ClientHost, ClientHost>();
  const json = (text: string): string => search()?.maskJson(text) ?? text;
  const words = (text: string): string => search()?.maskText(text) ?? text;
  const tail = (text: string): string => search()?.maskText(text, true) ?? text;

  function value<T>(given: T): T {
    const text = JSON.stringify(given);
    if (text === undefined) return given;
    const masked = json(text);
    return masked === text ? given : (JSON.parse(masked) as T);
  }

  function host(given: ClientHost): ClientHost {
    const known = hosts.get(given);
    if (known !== undefined) return known;
    const guarded: ClientHost = {
      get capabilities() {
        return given.capabilities;
      },
      get info() {
        return given.info;
      },
      ask: (request) => given.ask(request.params === undefined ? request : { ...request, params: json(request.params) }),
      notify: (method, params) => given.notify(method, params === undefined ? undefined : json(params)),
    };
    hosts.set(given, guarded);
    return guarded;
  }

  function error(thrown: unknown): AppError {
    const given = asAppError(thrown);
    const [message, hint, data] = [words(given.message), given.hint && words(given.hint), masked(given.data)];
    if (message === given.message && hint === given.hint && data === given.data && clean(given.cause)) return given;
    return new AppError(given.kind, given.code, message, {
      ...(hint === undefined ? {} : { hint }),
      ...(given.retryAfterMs === undefined ? {} : { retryAfterMs: given.retryAfterMs }),
      ...(data === undefined ? {} : { data }),
    });
  }

  /** What lies under it may be written down as well. */
  function clean(cause: unknown): boolean {
    return !(cause instanceof Error) || (words(cause.message) === cause.message && clean(cause.cause));
  }

  function masked(data: AppError['data']): AppError['data'] {
    if (data === undefined) return data;
    const { stderr_tail: last, ...rest } = data;
    const [kept, end] = [value(rest), typeof last === 'string' ? tail(last) : last];
    return kept === rest && end === last ? data : { ...kept, ...(last === undefined ? {} : { stderr_tail: end }) };
  }

  function reply(given: UpstreamReply): UpstreamReply {
    const text = json(given.json);
    if (text === given.json) return given;
    if (given.kind === 'error') return { ...given, json: text };
    return { ...given, json: text, value: JSON.parse(text) as JsonObject };
  }

  function options(given: UpstreamRequestOptions): UpstreamRequestOptions {
    const { onProgress, host: theirs } = given;
    if (onProgress === undefined && theirs === undefined) return given;
    return {
      ...given,
      ...(onProgress === undefined ? {} : { onProgress: (note) => onProgress(value(note)) }),
      ...(theirs === undefined ? {} : { host: host(theirs) }),
    };
  }

  function connection(inner: UpstreamConnection): GuardedConnection {
    let inFlight = 0;
    let waiting: (() => void)[] = [];

    async function counted(asked: Promise<UpstreamReply>): Promise<UpstreamReply> {
      inFlight += 1;
      try {
        return reply(await asked);
      } catch (thrown) {
        throw error(thrown);
      } finally {
        inFlight -= 1;
        if (inFlight === 0) {
          for (const resolve of waiting) resolve();
          waiting = [];
        }
      }
    }

    return {
      ...inner,
      capabilities: value(inner.capabilities),
      serverInfo: value(inner.serverInfo),
      ...(inner.instructions === undefined ? {} : { instructions: words(inner.instructions) }),
      request: (method, params, how) => counted(inner.request(method, params, options(how))),
      subscribe: (uri, how) => counted(inner.subscribe(uri, options(how))),
      unsubscribe: (uri, how) => counted(inner.unsubscribe(uri, options(how))),
      onNotification(listener) {
        inner.onNotification((method, params, text) => {
          const clean = text === undefined ? undefined : json(text);
          listener(method, clean === text ? params : (JSON.parse(clean ?? '{}') as JsonObject), clean);
        });
      },
      closed: inner.closed.then((end) => ({
        ...end,
        stderrTail: tail(end.stderrTail),
        ...(end.lost === undefined ? {} : { lost: words(end.lost) }),
      })),
      inFlight: () => inFlight,
      idle: () => (inFlight === 0 ? Promise.resolve() : new Promise((resolve) => void waiting.push(resolve))),
    };
  }

  return { connection, host, error };
}
