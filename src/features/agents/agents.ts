// The face of the agents slice: who is this? Answers from memory; every change is one commit of row and record.
import type { Database, Transaction } from '../../kernel/database.ts';
import type { Clock, Digest, Entropy, Unsubscribe } from '../../kernel/ports.ts';
import { createTurns } from '../../lib/turns.ts';
import type { Audit } from '../audit/audit.ts';
import type { AuditEntry, AuditEvent } from '../audit/model.ts';
import { createDirectory } from './directory.ts';
import { agentName } from './model.ts';
import type { Agent, AgentEnd, Decision } from './model.ts';
import { badName, changeable, exists, notActive, notFound, notSuspended } from './refusals.ts';
import { deleteAgent, insertAgent, readAgent, readAgents, updateAgent } from './store.ts';
import type { AgentRow } from './store.ts';
import { looksLikeToken, newToken, tokenHash } from './token.ts';

export interface Agents {
  /** The agent whose current token this is, in any state but locked; unknown tokens are `undefined`. Synchronous, no scan. */
  authenticate(token: string): Agent | undefined;
  get(name: string): Agent | undefined;
  list(): readonly Agent[];
  /** Throws `agents.suspended`, `agents.revoked` or `agents.locked` (kind denied) unless the agent is active. */
  assertActive(name: string): void;
  /**
   * Nothing of this agent passes from this very moment, whatever becomes of the commit, which is tried until it succeeds; resolves after the
   * first try. For what finds an agent where it must not be. An agent that is gone stays gone.
   */
  suspendAtOnce(name: string, reason: string): Promise<void>;
  /** Calls back, after the commit, when an agent was revoked, removed, suspended or its token rotated: its sessions end. */
  onEnded(listener: (name: string, why: AgentEnd) => void): Unsubscribe;
}

/** What only this slice's own operations may use; the gateway has checked who may. */
export interface AgentRegistry extends Agents {
  /** The token, which nobody can read again. Throws `agents.exists`, `agents.bad_name`. */
  add(name: string, by: Decision): Promise<string>;
  /** A new token; the old one is unknown from then on. The state stays. Throws `agents.not_found`, `.revoked`, `.locked`. */
  rotate(name: string, by: Decision): Promise<string>;
  /** Final. Throws `agents.not_found`, `.revoked`, `.locked`. */
  revoke(name: string, by: Decision): Promise<void>;
  /** Takes the agent out, whatever its state. Throws `agents.not_found`. */
  remove(name: string, by: Decision): Promise<void>;
  /** Nothing passes until a person unsuspends; a suspended agent keeps its first reason. Throws `agents.not_found`, `.revoked`, `.locked`. */
  suspend(name: string, reason: string | undefined, by: Decision): Promise<void>;
  /** Throws `agents.not_found`, `.not_suspended`, `.revoked`, `.locked`. */
  unsuspend(name: string, by: Decision): Promise<void>;
}

export interface AgentsDeps {
  readonly db: Database;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly digest: Digest;
}

interface Change {
  readonly name: string;
  readonly by: Decision;
  readonly event: AuditEvent;
  /** Told to the listeners when this change ends what the agent had. */
  readonly ends: AgentEnd;
  /** Its sessions end so much later, in milliseconds, so that what it is told reaches it; nothing of it passes meanwhile. */
  readonly lastWordMs?: number;
  readonly sealed?: AuditEntry['sealed'];
  /** Changes the row, or throws; `false` = there was nothing to change. */
  readonly apply: (tx: Transaction, row: AgentRow | undefined) => Promise<boolean>;
}

/** A suspension that could not be committed is tried again after this. */
const suspendAgainMs = 5_000;
/** For an answer that is on its way. */
const lastWordMs = 250;

export async function createAgents({ db, audit, clock, entropy, digest }: AgentsDeps): Promise<AgentRegistry> {
  const directory = createDirectory(await readAgents(db.queries));
  const listeners = new Set<(name: string, why: AgentEnd) => void>();
  /** Suspended in memory before the row says so. */
  const held = new Set<string>();
  // One change at a time, memory included: two commits cannot reach memory in the other order.
  const takeTurn = createTurns();
  const now = (): string => new Date(clock.now()).toISOString();

  async function change({ name, by, event, ends, lastWordMs, sealed, apply }: Change): Promise<void> {
    const giveBack = await takeTurn();
    try {
      await audit.commit(
        async (tx) => {
          const changed = await apply(tx, await readAgent(tx, name));
          const facts = { agent: name, ...(by.proof && { proof: by.proof }) };
          return { value: undefined, entries: changed ? [{ event, actor: by.actor, facts, ...(sealed && { sealed }) }] : [] };
        },
        { decision: true },
      );
    } finally {
      try {
        // Also when the commit failed: it may have reached the database before it did. Memory says what stands there.
        await reload(name, ends, lastWordMs);
      } finally {
        giveBack();
      }
    }
  }

  async function reload(name: string, ends: AgentEnd, lastWordMs: number | undefined): Promise<void> {
    let row: AgentRow | undefined;
    try {
      row = await readAgent(db.queries, name);
    } catch (failure) {
      directory.lock(name);
      tell(name, ends);
      throw failure;
    }
    if (!directory.put(name, row)) return;
    if (lastWordMs === undefined) tell(name, ends);
    else clock.after(lastWordMs, () => tellLater(name, ends));
  }

  /** Unless it is active again by now. Nobody waits for this who could be told of a failure. */
  function tellLater(name: string, ends: AgentEnd): void {
    if (directory.byName(name)?.state === 'active') return;
    try {
      tell(name, ends);
    } catch {
      // Its sessions are of no use to it: each call is refused.
    }
  }

  /** Every listener is called, also when one before it throws; the first failure is told. */
  function tell(name: string, why: AgentEnd): void {
    const failures: unknown[] = [];
    for (const listener of listeners) {
      try {
        listener(name, why);
      } catch (failure) {
        failures.push(failure);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  async function suspend(name: string, reason: string | undefined, by: Decision, lastWordMs?: number): Promise<void> {
    await change({
      name,
      by,
      event: 'agent.suspended',
      ends: 'suspended',
      ...(lastWordMs !== undefined && { lastWordMs }),
      ...(reason !== undefined && { sealed: { reason } }),
      async apply(tx, row) {
        if (changeable(name, row).state === 'suspended') return false;
        await updateAgent(tx, name, { state: 'suspended', reason: reason ?? null });
        return true;
      },
    });
  }

  async function suspendHeld(name: string, reason: string): Promise<void> {
    if (!held.has(name)) return;
    try {
      await suspend(name, reason, { actor: 'daemon' }, lastWordMs);
      held.delete(name);
    } catch {
      // Gone or revoked: nothing of it passes anyway. Otherwise the record or the database is not to be had now.
      if (directory.byName(name)?.state === 'active') clock.after(suspendAgainMs, () => void suspendHeld(name, reason));
      else held.delete(name);
    }
  }

  return {
    async suspendAtOnce(name, reason) {
      if (directory.byName(name)?.state !== 'active') return;
      held.add(name);
      await suspendHeld(name, reason);
    },
    authenticate(token) {
      if (!looksLikeToken(token)) return undefined;
      // A lookup by hash tells an attacker's clock nothing: it would take a preimage to come near another token's hash.
      return directory.byTokenHash(tokenHash(digest, token));
    },
    get: (name) => directory.byName(name),
    list: () => directory.all(),
    assertActive(name) {
      const agent = directory.byName(name);
      if (agent?.state !== 'active') throw notActive(name, agent?.state);
      if (held.size > 0 && held.has(name)) throw notActive(name, 'suspended');
    },
    onEnded(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    async add(name, by) {
      if (!agentName.test(name)) throw badName(name);
      const token = newToken(entropy, digest);
      const row: AgentRow = {
        name,
        token_hash: tokenHash(digest, token),
        state: 'active',
        created_at: now(),
        rotated_at: null,
        reason: null,
      };
      await change({
        name,
        by,
        event: 'agent.added',
        ends: 'rotated',
        async apply(tx) {
          if (!(await insertAgent(tx, row))) throw exists(name);
          return true;
        },
      });
      return token;
    },

    async rotate(name, by) {
      const token = newToken(entropy, digest);
      await change({
        name,
        by,
        event: 'agent.rotated',
        ends: 'rotated',
        async apply(tx, row) {
          changeable(name, row);
          await updateAgent(tx, name, { token_hash: tokenHash(digest, token), rotated_at: now() });
          return true;
        },
      });
      return token;
    },

    revoke: (name, by) =>
      change({
        name,
        by,
        event: 'agent.revoked',
        ends: 'revoked',
        async apply(tx, row) {
          changeable(name, row);
          await updateAgent(tx, name, { state: 'revoked' });
          return true;
        },
      }),

    remove: (name, by) =>
      change({
        name,
        by,
        event: 'agent.removed',
        ends: 'removed',
        async apply(tx, row) {
          if (row === undefined) throw notFound(name);
          await deleteAgent(tx, name);
          return true;
        },
      }),

    suspend: (name, reason, by) => suspend(name, reason, by),

    unsuspend: (name, by) =>
      change({
        name,
        by,
        event: 'agent.unsuspended',
        ends: 'suspended',
        async apply(tx, row) {
          if (changeable(name, row).state !== 'suspended') throw notSuspended(name);
          await updateAgent(tx, name, { state: 'active', reason: null });
          return true;
        },
      }),
  };
}
