// The tokens that git was given: each for one agent and one repository, given again while its time lasts, and taken back at its end. Decides
// nothing; keeps nothing on disk.
import type { Clock } from '../../kernel/ports.ts';
import type { CredentialProvider, Obtained } from '../auth/auth.ts';
import type { Vault } from '../vault/vault.ts';
import { capabilityOf, entryName, type AskedRepository, type GitEntry } from './model.ts';

export interface GitToken {
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface TokenWish {
  readonly agent: string;
  readonly entry: GitEntry;
  readonly asked: AskedRepository;
  /** What is left of the grant. */
  readonly ttlMs: number;
  /** False: one of its own, which a person agreed to. */
  readonly shared: boolean;
  readonly signal: AbortSignal;
  /** Throws where nothing may be any more: asked at the last instant before a token is asked for, and before it is handed on. */
  readonly assertStill: () => void;
}

export interface GitTokens {
  /** Rejects with `auth.refused`, `auth.unreachable`, or the vault's own codes. */
  give(wish: TokenWish): Promise<GitToken>;
  /** git was refused with it, or is done with it. */
  forget(agent: string, asked: AskedRepository): void;
  /** Everything of an agent, or under an entry, that is over. */
  end(whose: { readonly agent: string } | { readonly entry: Pick<GitEntry, 'host' | 'owner'> }): void;
  /** Takes all back, within a moment. */
  close(): Promise<void>;
}

export interface TokenDeps {
  readonly clock: Clock;
  readonly vault: Pick<Vault, 'values'>;
  readonly github: CredentialProvider<'github_app'>;
}

interface Live extends GitToken {
  readonly agent: string;
  readonly entry: string;
  readonly capability: string;
  readonly shared: boolean;
  readonly revoke: () => Promise<void>;
  readonly stopTimer: () => void;
}

/** So near its end a token would not outlast what git does with it. */
const usefulMs = 30_000;
const slackMs = 1_000;
/** The oldest goes first; an agent that asks for more works on as many repositories at once. */
const mostPerAgent = 32;

export function createGitTokens({ clock, vault, github }: TokenDeps): GitTokens {
  const live = new Set<Live>();

  function drop(token: Live): Promise<void> {
    token.stopTimer();
    return live.delete(token) ? token.revoke() : Promise.resolve();
  }

  function dropAll(which: (token: Live) => boolean): Promise<unknown> {
    return Promise.all([...live].filter(which).map(drop));
  }

  function held({ agent, asked, ttlMs, shared }: TokenWish): Live | undefined {
    const now = clock.now();
    const capability = capabilityOf(asked);
    const useful = now + Math.min(usefulMs, ttlMs / 2);
    return [...live].find(
      (one) =>
        shared &&
        one.shared &&
        one.agent === agent &&
        one.capability === capability &&
        one.expiresAt > useful &&
        one.expiresAt <= now + ttlMs + slackMs,
    );
  }

  async function obtain({ agent, entry, asked, ttlMs, signal, assertStill }: TokenWish): Promise<Obtained> {
    const { app, access } = entry;
    const secrets = await vault.values([app.secretRef], { signal });
    try {
      assertStill();
      const permissions = { contents: access, metadata: 'read' as const };
      const auth = { type: 'github_app' as const, ...app, permissions, repositories: [`${asked.owner}/${asked.name}`] };
      const values = new Map(secrets.map(({ ref, value }) => [ref, value]));
      return await github.obtain(auth, values, { upstream: 'git', refused: false, agent, ttlMs, signal });
    } finally {
      for (const secret of secrets) secret.wipe();
    }
  }

  function keep({ agent, entry, asked, shared }: TokenWish, { env, expiresAt = clock.now(), revoke = nothing }: Obtained): Live {
    const [token = ''] = Object.values(env);
    const stopTimer = clock.after(expiresAt - clock.now(), () => void drop(kept));
    const kept: Live = {
      token,
      expiresAt,
      agent,
      entry: entryName(entry),
      capability: capabilityOf(asked),
      shared,
      revoke,
      stopTimer,
    };
    live.add(kept);
    const own = [...live].filter((one) => one.agent === agent);
    for (const oldest of own.slice(0, Math.max(0, own.length - mostPerAgent))) void drop(oldest);
    return kept;
  }

  return {
    async give(wish) {
      const kept = held(wish) ?? keep(wish, await obtain(wish));
      try {
        // What ended while the provider was asked was over before there was a token to take back.
        wish.assertStill();
      } catch (thrown) {
        void drop(kept);
        throw thrown;
      }
      return { token: kept.token, expiresAt: kept.expiresAt };
    },
    forget(agent, asked) {
      const capability = capabilityOf(asked);
      void dropAll((one) => one.agent === agent && one.capability === capability);
    },
    end(whose) {
      void dropAll((one) => ('agent' in whose ? one.agent === whose.agent : one.entry === entryName(whose.entry)));
    },
    async close() {
      await dropAll(() => true);
    },
  };
}

const nothing = async (): Promise<void> => undefined;
