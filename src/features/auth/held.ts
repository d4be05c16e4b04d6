// The credentials of one binding that are at hand: for everybody, or minted for one agent and no longer than its grant. Each goes at its
// end, and whoever made it is told. Asks nobody for another.
import type { Clock, Unsubscribe } from '../../kernel/ports.ts';
import type { Credential } from './model.ts';
import type { CredentialWish } from './provider.ts';

export interface Held {
  /** One that may be used for this wish now; `spare` takes one that should be renewed already, but still works. */
  fitting(wish: Wished, spare?: boolean): Credential | undefined;
  fits(credential: Credential, wish: Wished): boolean;
  put(credential: Credential, agent: string | undefined, revoke: Revoke | undefined): void;
  /** True when it was there. */
  forget(id: string): boolean;
  /** All of them; what they were made from changed, or nobody uses them any more (`atOnce`). */
  clear(atOnce?: boolean): void;
  any(): boolean;
  has(id: string): boolean;
}

export type Wished = Pick<CredentialWish, 'agent' | 'ttlMs'>;
type Revoke = () => Promise<void>;

interface Entry {
  readonly credential: Credential;
  readonly agent: string | undefined;
  readonly renewAt: number;
  readonly revoke: Revoke | undefined;
  readonly cancelEnd: Unsubscribe | undefined;
}

export interface HeldDeps {
  readonly clock: Clock;
  /** Each agent has its own; else one serves all. */
  readonly minted: boolean;
  readonly gone: (id: string) => void;
}

/** Of its life; the rest is for calls in flight, and for trying again. */
const renewAfter = 0.8;
/** A clock may say a little less than the grant was thought to have. */
const slackMs = 1_000;
const most = 256;
/** For calls in flight when a token is replaced before its time. */
const graceMs = 60_000;
/** Timers take no more. */
const longestTimerMs = 2 ** 31 - 1;

export function createHeld({ clock, minted, gone }: HeldDeps): Held {
  const entries = new Map<string, Entry>();

  function drop(id: string, revokeMs: number): boolean {
    const entry = entries.get(id);
    if (entry === undefined) return false;
    const { revoke, cancelEnd } = entry;
    entries.delete(id);
    cancelEnd?.();
    gone(id);
    if (revoke !== undefined && revokeMs > 0) clock.after(revokeMs, () => void revoke());
    else void revoke?.();
    return true;
  }

  function fits({ expiresAt }: Credential, { ttlMs }: Wished): boolean {
    return !minted || ttlMs === undefined || expiresAt === undefined || expiresAt <= clock.now() + ttlMs + slackMs;
  }

  return {
    fits,
    fitting(wish, spare = false) {
      const now = clock.now();
      for (const { credential, agent, renewAt } of entries.values()) {
        if (minted && agent !== wish.agent) continue;
        const good = spare ? credential.expiresAt === undefined || now < credential.expiresAt : now < renewAt;
        if (good && fits(credential, wish)) return credential;
      }
      return undefined;
    },
    put(credential, agent, revoke) {
      const now = clock.now();
      // One that serves all replaces the one before; of minted ones the oldest make room.
      for (const id of entries.keys()) if (!minted || entries.size >= most) drop(id, graceMs);
      const { id, expiresAt } = credential;
      const renewAt = expiresAt === undefined ? Number.POSITIVE_INFINITY : now + (expiresAt - now) * renewAfter;
      const lifeMs = expiresAt === undefined ? Number.POSITIVE_INFINITY : Math.max(0, expiresAt - now);
      const cancelEnd = lifeMs > longestTimerMs ? undefined : clock.after(lifeMs, () => void drop(id, 0));
      entries.set(id, { credential, agent, renewAt, revoke, cancelEnd });
    },
    forget: (id) => drop(id, 0),
    clear(atOnce = false) {
      for (const id of entries.keys()) drop(id, atOnce ? 0 : graceMs);
    },
    any: () => entries.size > 0,
    has: (id) => entries.has(id),
  };
}
