// One login of the vault in use: what can be shown now, renewed in time and by one request however many want it. What is new is in the
// vault before anybody is given it; what is over is over until a person logs in again. Knows no upstream's transport.
import { AppError, asAppError } from '../../../kernel/errors.ts';
import type { Clock, Entropy, Log, TokenHttp } from '../../../kernel/ports.ts';
import { createTurns } from '../../../lib/turns.ts';
import type { Decision } from '../../vault/model.ts';
import type { Vault } from '../../vault/vault.ts';
import { afterFailure, afterRefusal, gravityOf, renewalIn, restsUntil, wellRenewed, type Course } from './course.ts';
import { clientOf, isLive, readRecord, renewed, writeRecord, type LiveLogin, type LoginRecord } from './login-record.ts';
import { needsLogin, quoted, restsAfterFailure } from './refusals.ts';
import { askForTokens, type TokenReply } from './token-endpoint.ts';
import { unlessAborted } from '../unless-aborted.ts';
import { createWakeTimer } from './wake-timer.ts';

export interface HeldLoginDeps {
  /** Its name in the vault. */
  readonly ref: string;
  readonly vault: Pick<Vault, 'logins' | 'state'>;
  readonly http: TokenHttp;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  /** What was given out before is not the latest any more. */
  readonly onRenewed: () => void;
}

export interface HeldLogin {
  /** The record as far as it can be seen now; `undefined` while the vault is locked and nobody asked before. */
  seen(): LoginRecord | undefined;
  course(): Course;
  /** Milliseconds until it is tried by itself. */
  nextInMs(): number | undefined;
  /** Milliseconds since the epoch. */
  lastRenewedAt(): number | undefined;
  /** Rejects with `auth.needs_reauth` and `auth.unreachable` naming `upstream`, and with the vault's codes. */
  current(upstream: string, signal: AbortSignal): Promise<LiveLogin>;
  /** The upstream did not take this token. True when another one is there now. */
  refused(token: string): Promise<boolean>;
  /** A login that a person signed for, or what is left of one; what goes on meanwhile does not overwrite it. */
  replace(record: LoginRecord, by: Decision | undefined): Promise<void>;
  close(): void;
}

/** So long before its end a token is not shown any more: it has to arrive. */
const arrivalMs = 10_000;
/** A token younger than this that is refused was refused for another reason than its age. */
const freshMs = 30_000;
/** A commit that failed is tried again after this. */
const commitAgainMs = 5_000;

export function createHeldLogin(deps: HeldLoginDeps): HeldLogin {
  const { ref, vault, http, clock, entropy, log } = deps;
  const ending = new AbortController();
  const takeTurn = createTurns();
  let record: LoginRecord | undefined;
  let course: Course = wellRenewed;
  /** Given by the server and not yet in the vault: what came before it may be of no use any more. */
  let uncommitted: LiveLogin | undefined;
  let running: Promise<LiveLogin> | undefined;
  /** One more with each login of a person: what was begun before it is dropped. */
  let generation = 0;
  let lastRenewedAt: number | undefined;
  const timer = createWakeTimer(clock, () => {
    renew().catch((error: unknown) => log.warn('a login was not renewed', { ref, reason: asAppError(error).code }));
  });

  const jitter = (): number => (entropy.bytes(1)[0] ?? 0) / 255;

  function adopt(found: LoginRecord): LoginRecord {
    record = found;
    plan();
    return found;
  }

  async function load(signal: AbortSignal): Promise<LoginRecord> {
    if (record !== undefined) return record;
    const secret = await vault.logins.value(ref, { signal });
    try {
      return record ?? adopt(readRecord(secret.value));
    } finally {
      secret.wipe();
    }
  }

  function seen(): LoginRecord | undefined {
    if (record !== undefined || vault.state() !== 'open' || !vault.logins.known(ref)) return record;
    const secret = vault.logins.valueNow(ref);
    try {
      return adopt(readRecord(secret.value));
    } finally {
      secret.wipe();
    }
  }

  /** When it is renewed by itself: in good time, or after a rest. */
  function plan(): void {
    timer.clear();
    if (record?.refresh_token === undefined || course.state === 'needs_reauth' || ending.signal.aborted) return;
    if (course.state !== 'ok') timer.set(course.retryAt - clock.monotonic());
    else if (record.expires_at !== undefined) timer.set(renewalIn(record.expires_at - clock.now(), jitter()));
  }

  /** One renewal for all who want it. Rejects with why there is none; `course` says what comes of it. */
  function renew(): Promise<LiveLogin> {
    running ??= renewOnce().finally(() => {
      running = undefined;
    });
    return running;
  }

  async function renewOnce(): Promise<LiveLogin> {
    const before = await load(ending.signal);
    const began = generation;
    const next = uncommitted ?? (await exchange(before));
    const giveBack = await takeTurn();
    try {
      // A person logged in or out meanwhile, and what that left counts.
      if (generation !== began) return liveNow();
      // Kept before it is used: whoever dies here leaves the old record in the vault or the new one, and never a used-up token alone.
      uncommitted = next;
      await keep(next);
      uncommitted = undefined;
    } catch (error) {
      // Nothing is asked of the server again for this: the next try begins with the commit.
      timer.set(commitAgainMs);
      throw error;
    } finally {
      giveBack();
    }
    course = wellRenewed;
    lastRenewedAt = clock.now();
    adopt(next);
    deps.onRenewed();
    return next;
  }

  function liveNow(): LiveLogin {
    if (record !== undefined && isLive(record)) return record;
    throw over('it was logged out of meanwhile');
  }

  async function exchange(before: LoginRecord): Promise<LiveLogin> {
    const began = generation;
    const refresh = before.refresh_token;
    if (refresh === undefined) throw over('there is nothing to renew it with');
    const now = clock.now();
    let reply: TokenReply;
    try {
      reply = await askForTokens(http, {
        endpoint: before.token_endpoint,
        client: clientOf(before),
        form: { grant_type: 'refresh_token', refresh_token: refresh },
        resource: before.resource,
        now,
        signal: ending.signal,
      });
    } catch (thrown) {
      const error = asAppError(thrown);
      if (error.code !== 'auth.cancelled') fail(began, error.message, 'passing');
      throw error;
    }
    if (reply.kind === 'tokens') return renewed(before, reply.tokens, now);
    throw fail(began, `the token endpoint answered '${quoted(reply.error)}'`, gravityOf(reply.error));
  }

  function fail(began: number, why: string, gravity: ReturnType<typeof gravityOf>): AppError {
    if (generation === began) {
      course =
        gravity === 'final'
          ? afterRefusal(course, why)
          : afterFailure(course, { why, fatal: gravity === 'fatal', at: clock.monotonic(), jitter: jitter() });
      plan();
    }
    return gravity === 'final' ? over(why) : new AppError('unavailable', 'auth.unreachable', why);
  }

  async function keep(next: LoginRecord): Promise<void> {
    const bytes = writeRecord(next);
    try {
      await vault.logins.renew(ref, bytes);
    } finally {
      bytes.fill(0);
    }
  }

  return {
    seen,
    course: () => course,
    nextInMs: () => timer.leftMs(),
    lastRenewedAt: () => lastRenewedAt,

    async current(upstream, signal) {
      const found = await load(signal);
      if (isLive(found) && usable(found, clock.now())) return found;
      if (!isLive(found)) throw needsLogin(upstream, 'is not there: nobody has logged in since the logout');
      if (course.state === 'needs_reauth') throw needsLogin(upstream, `is over: ${course.why}`);
      if (found.refresh_token === undefined && uncommitted === undefined) {
        const why = 'its token has run out, and there was none to renew it with';
        course = afterRefusal(course, why);
        throw needsLogin(upstream, `is over: ${why}`);
      }
      const rest = (restsUntil(course) ?? 0) - clock.monotonic();
      if (rest > 0 && running === undefined) throw resting(upstream, rest);
      try {
        return await unlessAborted(renew(), signal);
      } catch (error) {
        throw inWords(upstream, error);
      }
    },

    async refused(token) {
      const found = seen();
      if (found === undefined || !isLive(found)) return false;
      if (found.access_token !== token) return true;
      if (course.state === 'needs_reauth') return false;
      if (found.refresh_token === undefined) {
        course = afterRefusal(course, 'the upstream does not take its token, and there is none to renew it with');
        return false;
      }
      const rests = (restsUntil(course) ?? 0) > clock.monotonic();
      if (rests || clock.now() - found.obtained_at < freshMs) return false;
      return renew().then(
        () => true,
        () => false,
      );
    },

    async replace(next, by) {
      const giveBack = await takeTurn();
      try {
        generation += 1;
        uncommitted = undefined;
        const bytes = writeRecord(next);
        try {
          await (by === undefined ? vault.logins.renew(ref, bytes) : vault.logins.keep(ref, bytes, by));
        } finally {
          bytes.fill(0);
        }
        course = wellRenewed;
        lastRenewedAt = undefined;
        adopt(next);
      } finally {
        giveBack();
      }
      deps.onRenewed();
    },

    close() {
      ending.abort();
      timer.clear();
    },
  };

  function resting(upstream: string, ms: number): AppError {
    return restsAfterFailure(upstream, course.state === 'ok' ? 'the last try failed' : course.why, ms);
  }

  /** The same for whoever called, with the name that person knows. */
  function inWords(upstream: string, thrown: unknown): unknown {
    if (course.state === 'needs_reauth') return needsLogin(upstream, `is over: ${course.why}`);
    const error = asAppError(thrown);
    if (!error.code.startsWith('auth.') || error.code === 'auth.cancelled' || course.state === 'ok') return thrown;
    return resting(upstream, Math.max(0, (restsUntil(course) ?? 0) - clock.monotonic()));
  }
}

function usable({ expires_at: end }: LiveLogin, now: number): boolean {
  return end === undefined || now < end - arrivalMs;
}

function over(why: string): AppError {
  return new AppError('unavailable', 'auth.needs_reauth', why);
}
