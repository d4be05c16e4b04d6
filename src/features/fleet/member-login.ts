// The login of a member in the course of its life: its connections are opened with it, replaced when it is another one, and what cannot be
// logged in waits for whoever can mend that. Where there is no login nothing stands between. Knows no call and no tool.
import { asAppError, type AppError } from '../../kernel/errors.ts';
import type { Clock, UpstreamConnection } from '../../kernel/ports.ts';
import type { AuthHealth } from '../auth/auth.ts';
import { loggedIn, type Borrower, type Login, type Opening } from './login.ts';
import type { MainSession } from './main-session.ts';
import type { OwnSessions } from './own-sessions.ts';
import { reasonOf } from './start-reasons.ts';
import type { Patience } from './within.ts';

export interface MemberLogin {
  /** `key`: of whose connection it is; absent for that of everybody. */
  open(opening: Opening, key?: string): Promise<UpstreamConnection>;
  /** Whoever opens the connection of this key does so on behalf of this request. */
  borrow(key: string, request: Borrower): void;
  forget(key: string): void;
  /** With what this request is logged in, where it says so itself: over HTTP. */
  ask<T>(
    request: Borrower & { readonly signal: AbortSignal },
    patience: () => Patience,
    send: (lines: readonly string[] | undefined) => Promise<T>,
  ): Promise<T>;
  /** Names of secrets it waits for. */
  missing(): readonly string[];
  /** Why it is not even tried: the vault is closed. */
  locked(): AppError | undefined;
  /** Parks the member where only a person helps; false when the error is nothing of that kind. */
  parks(error: AppError): boolean;
  health(): AuthHealth | undefined;
  close(): void;
}

export interface MemberLoginDeps {
  readonly open: (opening: Opening) => Promise<UpstreamConnection>;
  readonly login: Login | undefined;
  readonly main: () => MainSession;
  readonly own: () => Pick<OwnSessions, 'forgive' | 'replace'>;
  readonly wake: () => Promise<void>;
  readonly clock: Clock;
}

/** Until a connection that was just opened has been taken over by whoever asked for it. */
const settleMs = 1_000;

export function createMemberLogin({ open, login, main, own, wake, clock }: MemberLoginDeps): MemberLogin {
  if (login === undefined) return { ...withoutLogin, open };
  const borrowers = new Map<string, Borrower>();
  const stop = login.onChanged((changed) => (changed ? renewed(login) : replace(login)));

  /** Processes that have one which is not given out any more make room for others. */
  function replace(now: Login): void {
    const session = main();
    if (session.ended()) return;
    own().replace((connection) => now.stale(connection));
    const live = session.live();
    if (live === undefined || !now.stale(live)) return;
    session.replace(now.retire(live, session.ending));
    void wake();
  }

  /** The same, and whoever waited for another one is tried. */
  function renewed(now: Login): void {
    const session = main();
    if (session.ended()) return;
    own().forgive();
    replace(now);
    if (session.live() === undefined && !session.starting()) {
      session.apply({ kind: 'stopped' });
      void wake();
    } else if (!now.inProcess) {
      // Requests over HTTP have it each by itself; streams that wait for notices want it at hand.
      now.wait({}, session.ending).catch((error: unknown) => parks(asAppError(error)));
    }
  }

  /** One that changed while a process was started with it. */
  async function opened(opening: Opening, key: string | undefined, now: Login): Promise<UpstreamConnection> {
    const connection = await now.open(opening, (key === undefined ? undefined : borrowers.get(key)) ?? {});
    if (now.stale(connection)) clock.after(settleMs, () => replace(now));
    return connection;
  }

  function parks(error: AppError): boolean {
    const reason = reasonOf(error);
    if (reason === 'secrets') main().awaitSecrets(error);
    else if (reason === 'login') main().park(error);
    else return false;
    return true;
  }

  return {
    open: (opening, key) => opened(opening, key, login),
    borrow: (key, { agent, until }) => void borrowers.set(key, { agent, until }),
    forget: (key) => void borrowers.delete(key),
    ask: (request, patience, send) => (login.inProcess ? send(undefined) : loggedIn(login, request, patience(), send)),
    missing: () => login.missing(),
    locked: () => login.locked(),
    parks,
    health: () => login.health(),
    close() {
      stop();
      login.close();
    },
  };
}

const ignored = (): void => undefined;

const withoutLogin: Omit<MemberLogin, 'open'> = {
  borrow: ignored,
  forget: ignored,
  ask: (_request, _patience, send) => send(undefined),
  missing: () => [],
  locked: () => undefined,
  parks: () => false,
  health: () => undefined,
  close: ignored,
};
