// How one member is logged in to its upstream: each of its connections is opened with a credential, each request over HTTP carries the one
// of now, and a connection whose credential is over is left when its calls are done. Knows no state machine and no secret.
import { AppError, asAppError } from '../../kernel/errors.ts';
import type { Clock, Unsubscribe, UpstreamConnection, UpstreamOpening, UpstreamRequestOptions } from '../../kernel/ports.ts';
import { createListeners } from '../../lib/listeners.ts';
import type { AuthBinding, AuthHealth, UpstreamAuth } from '../auth/auth.ts';
import { isMinted, type Credential } from '../auth/model.ts';
import { createGuard, type GuardedConnection } from './guarded-connection.ts';
import { within, type Patience } from './within.ts';

/** On whose behalf, and until when it was let pass (milliseconds since the epoch). */
export interface Borrower {
  readonly agent?: string | undefined;
  readonly until?: number | undefined;
}

export type Opening = UpstreamOpening & { readonly listens: boolean };

/** What a connection is opened with: variables of a child, lines of each request over HTTP. */
export interface Lent {
  readonly env: Readonly<Record<string, string>>;
  readonly login: (() => readonly string[]) | undefined;
}

export interface Login {
  /** The credential lies in the environment of each connection's own process, and stays there. */
  readonly inProcess: boolean;
  /** Opens with a credential of the borrower; with another one where that is refused and another may be had. */
  open(opening: Opening, borrower: Borrower): Promise<UpstreamConnection>;
  /** For one request over HTTP; `undefined` where the credential has to be waited for first. */
  at(borrower: Borrower): Credential | undefined;
  /** Rejects with the `auth.*` and `vault.*` codes, `data.sent` false. */
  wait(borrower: Borrower, signal: AbortSignal): Promise<Credential>;
  /** The same list for the same credential. */
  lines(credential: Credential): readonly string[];
  /** The upstream answered 401: may it be tried once more? */
  refused(credential: Credential): Promise<boolean>;
  /** It answered that this credential is not enough (403), and a person can do something about it. */
  lacking(error: AppError): boolean;
  /** What it answered, with what a person can do about it. */
  explained(error: AppError): AppError;
  /** The credential of the connection is not to be used any more. */
  stale(connection: UpstreamConnection): boolean;
  /** Closes it when its calls are done, or after a while. `busy`: it has some. */
  retire(connection: UpstreamConnection, ending: AbortSignal): { readonly busy: boolean; readonly gone: Promise<void> };
  /** Whatever it needs waits for a person: the vault is closed. The error says so. */
  locked(): AppError | undefined;
  /** Why it cannot be had though the vault is open: names that are not in it. */
  missing(): readonly string[];
  health(): AuthHealth;
  /** `changed`: another credential is there or may be had now; else one that a process has is at its end. */
  onChanged(listener: (changed: boolean) => void): Unsubscribe;
  close(): void;
}

export interface LoginDeps {
  readonly auth: UpstreamAuth;
  readonly binding: AuthBinding;
  readonly clock: Clock;
  readonly connect: (lent: Lent, opening: Opening) => Promise<UpstreamConnection>;
  readonly inProcess: boolean;
}

const none: readonly string[] = [];
const everybody = {};
/** For calls in flight on a process whose secret was replaced. */
const retireMs = 30_000;
const graceMs = 2_000;
/** What was let pass may still be asked about when its grant is over, such as a task; a token for that lives this long. */
const shortestMs = 30_000;
/** Of the life of a token in a process; the rest is for starting the next one. */
const renewAfter = 0.8;
const longestTimerMs = 2 ** 31 - 1;

export function createLogin({ auth, binding, clock, connect, inProcess }: LoginDeps): Login {
  const minted = isMinted(binding.auth);
  const guard = createGuard(() => auth.searchOf(binding.upstream));
  const lists = new WeakMap<Credential, readonly string[]>();
  const opened = new WeakMap<UpstreamConnection, { readonly connection: GuardedConnection; readonly credential: Credential }>();
  const over = new WeakSet<Credential>();
  const changes = createListeners<[boolean]>();
  const unbind = auth.bind(binding);
  const stop = auth.onChanged((upstream) => {
    if (upstream === binding.upstream) changes.tell(true);
  });

  function wished({ agent, until }: Borrower): { readonly agent?: string; readonly ttlMs?: number } {
    if (!minted) return everybody;
    return {
      ...(agent === undefined ? {} : { agent }),
      ...(until === undefined ? {} : { ttlMs: Math.max(shortestMs, until - clock.now()) }),
    };
  }

  function lines(credential: Credential): readonly string[] {
    let list = lists.get(credential);
    if (list === undefined) lists.set(credential, (list = Object.entries(credential.headers).flat()));
    return list;
  }

  async function wait(borrower: Borrower, signal: AbortSignal): Promise<Credential> {
    try {
      return await auth.credential(binding, { signal, ...wished(borrower) });
    } catch (thrown) {
      throw unsent(asAppError(thrown));
    }
  }

  function explained(error: AppError): AppError {
    const advice = auth.advice(binding);
    return new AppError(error.kind, error.code, error.message.replace(/\.?$/, `. ${advice}`.replace(/\.?$/, '.')), {
      hint: advice,
      data: { ...error.data },
      cause: error,
    });
  }

  /** A process cannot be given another token, so another process takes its place in time. */
  function watch(credential: Credential): void {
    if (credential.expiresAt === undefined || over.has(credential)) return;
    const ms = Math.max(0, (credential.expiresAt - clock.now()) * renewAfter);
    if (ms > longestTimerMs) return;
    clock.after(ms, () => {
      over.add(credential);
      changes.tell(false);
    });
  }

  /** For what cannot wait: streams of notices, goodbyes. Where none is at hand the next one has it. */
  function current(borrower: Borrower, signal: AbortSignal): readonly string[] {
    const held = auth.held(binding, wished(borrower));
    if (held !== undefined) return lines(held);
    wait(borrower, signal).catch(() => undefined);
    return none;
  }

  /** What the gateway asks for itself, such as lists, is logged in as calls are, and has one more try as well. */
  function carrying(inner: GuardedConnection, borrower: Borrower): GuardedConnection {
    const put = <T>(how: UpstreamRequestOptions, send: (now: UpstreamRequestOptions) => Promise<T>): Promise<T> => {
      if (how.login !== undefined) return send(how);
      const { signal, timeoutMs } = how;
      const what = 'The upstream was not logged in to in time.';
      const patience = { clock, deadline: clock.monotonic() + timeoutMs, signal, what };
      return loggedIn(login, { ...borrower, signal }, patience, (lines) => send({ ...how, login: lines }));
    };
    return {
      ...inner,
      request: (method, params, how) => put(how, (now) => inner.request(method, params, now)),
      subscribe: (uri, how) => put(how, (now) => inner.subscribe(uri, now)),
      unsubscribe: (uri, how) => put(how, (now) => inner.unsubscribe(uri, now)),
    };
  }

  const login: Login = {
    inProcess,
    lines,
    wait,
    explained,
    async open(opening, borrower) {
      for (let again = true; ; again = false) {
        const credential = await wait(borrower, opening.signal);
        const lent = { env: credential.env, login: () => current(borrower, opening.signal) };
        try {
          const host = opening.host === undefined ? {} : { host: guard.host(opening.host) };
          const guarded = guard.connection(await connect(lent, { ...opening, ...host }));
          const connection = inProcess ? guarded : carrying(guarded, borrower);
          opened.set(connection, { connection: guarded, credential });
          if (inProcess) watch(credential);
          return connection;
        } catch (thrown) {
          const error = guard.error(thrown);
          if (!isUnauthorized(error)) throw error;
          if (again && (await auth.refused(binding, credential))) continue;
          throw explained(error);
        }
      }
    },
    at: (borrower) => auth.held(binding, wished(borrower)),
    refused: (credential) => auth.refused(binding, credential),
    lacking({ code, data }) {
      const challenge = data?.['challenge'];
      const forbidden = code === 'fleet.auth_broken' && data?.['status'] === 403;
      return forbidden && typeof challenge === 'string' && auth.challenged(binding, challenge);
    },
    stale(connection) {
      const credential = opened.get(connection)?.credential;
      if (!inProcess || credential === undefined) return false;
      if (over.has(credential)) return true;
      return !auth.holds(binding, credential.id);
    },
    retire(connection, ending) {
      const guarded = opened.get(connection)?.connection;
      const busy = guarded !== undefined && guarded.inFlight() > 0;
      return { busy, gone: busy ? left(guarded, ending) : connection.close(graceMs) };
    },
    locked() {
      if (!auth.locked() || auth.held(binding, everybody) !== undefined) return undefined;
      return new AppError('unavailable', 'vault.locked', 'The vault is locked, so no secret can be used.', {
        hint: 'A person opens it with: sallyport vault unlock',
        data: { sent: false },
      });
    },
    missing: () => auth.health(binding).missing,
    health: () => auth.health(binding),
    onChanged: changes.add,
    close() {
      stop();
      unbind();
    },
  };
  return login;

  async function left(connection: GuardedConnection, ending: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = clock.after(retireMs, resolve);
    ending.addEventListener('abort', () => resolve(), { once: true });
    if (ending.aborted) resolve();
    await Promise.race([connection.idle(), promise]);
    cancel();
    await connection.close(graceMs);
  }
}

/** One request with the credential of now, and once more with another where that one is refused and another may be had. */
export async function loggedIn<T>(
  login: Login,
  borrower: Borrower & { readonly signal: AbortSignal },
  patience: Patience,
  send: (lines: readonly string[]) => Promise<T>,
): Promise<T> {
  for (let again = true; ; again = false) {
    const credential = login.at(borrower) ?? (await within(login.wait(borrower, borrower.signal), patience));
    try {
      return await send(login.lines(credential));
    } catch (thrown) {
      const error = asAppError(thrown);
      if (!isUnauthorized(error)) throw login.lacking(error) ? login.explained(error) : error;
      if (again && (await login.refused(credential))) continue;
      throw login.explained(error);
    }
  }
}

export function isUnauthorized({ code, data }: AppError): boolean {
  return code === 'fleet.auth_broken' && data?.['status'] === 401;
}

/** Nothing was sent anywhere when there is nothing to log in with. */
function unsent(error: AppError): AppError {
  if (error.data?.['sent'] === false) return error;
  return new AppError(error.kind, error.code, error.message, {
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
    data: { ...error.data, sent: false },
    cause: error,
  });
}
