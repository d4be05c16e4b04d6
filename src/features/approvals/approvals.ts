// The face of the approvals slice: asking a person, waiting for the answer, and spending it once.
import type { Database } from '../../kernel/database.ts';
import { AppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { AuditEntry } from '../audit/model.ts';
import { createAsking, type AskingPorts } from './asking.ts';
import { createBoard } from './board.ts';
import { createDecisions, type DecisionPorts, type Decisions } from './decisions.ts';
export type { CommitDeed, Deed, DeedOutcome } from './deed.ts';
import { createExpiry } from './expiry.ts';
import { stateAt, type Approval, type Question } from './model.ts';
import { createApprovalStore } from './store.ts';
import { createWaiting } from './waiting.ts';

export interface Approvals {
  /**
   * The open approval for this exact question (same agent, origin, capability, arguments, tool hash, ttl, guards), made if there is
   * none. Throws `approvals.denied` with retryAfterMs within 10 minutes of a denial of the same question, `approvals.too_many`
   * beyond 5 open per agent. `charge` is called before a new one is made and may throw; one that is open already costs nothing.
   */
  ask(question: Question, charge?: () => void): Promise<Approval>;
  /**
   * Takes the one execution an approval of this exact call bought (agent, capability, arguments, tool definition), in a commit of its own
   * made before the effect; `undefined` when there is none. Bound to the policy version it was decided under: after another text came
   * into force the call asks again.
   */
  spend(call: {
    readonly agent: string;
    readonly capability: string;
    readonly args: JsonObject | undefined;
    readonly toolHash?: string;
  }): Promise<Approval | undefined>;
  /** Resolves when the approval leaves `pending`, when `timeoutMs` passes or the signal aborts: woken by the decision, never polling. */
  wait(id: string, timeoutMs: number, signal: AbortSignal): Promise<Approval>;
  get(id: string): Promise<Approval | undefined>;
  /** The agent ended: its open questions expire and what was approved for it cannot be spent, in one commit. Returns how many. */
  withdraw(agent: string): Promise<number>;
  /** Newest first: the open ones, or with `all` the newest 1,000 of any state. */
  list(filter?: { readonly all?: boolean }): Promise<readonly Approval[]>;
  close(): void;
}

export interface ApprovalDeps extends AskingPorts, DecisionPorts {
  readonly db: Database;
}

/** Takes up what was open before a restart. Rejects with `approvals.locked` when a row cannot be read. */
export async function createApprovals(deps: ApprovalDeps): Promise<Approvals & Decisions> {
  const { db, audit, clock, digest, policyVersion } = deps;
  const store = createApprovalStore(db, digest);
  const board = createBoard(digest);
  const waiting = createWaiting(clock);
  /** Every change of state comes through here: the board first, then whoever waits. */
  const settle = (approval: Approval): void => {
    board.put(approval);
    if (approval.state === 'pending') return expiry.watch(approval);
    expiry.forget(approval.id);
    waiting.wake(approval);
  };
  const retract = (approval: Approval): void => {
    board.remove(approval);
    expiry.forget(approval.id);
  };
  const expiry = createExpiry({ audit, clock, store, settle, wake: (approval) => waiting.wake(approval) });
  const ask = createAsking(deps, { store, board, settle, retract });
  const decisions = createDecisions(deps, { store, settle });

  for (const approval of await store.live(clock.now())) settle(approval);

  const asOfNow = (approval: Approval): Approval => ({ ...approval, state: stateAt(approval, clock.now()) });

  async function get(id: string): Promise<Approval | undefined> {
    const approval = await store.get(id);
    return approval && asOfNow(approval);
  }

  return {
    ...decisions,
    ask,
    get,

    async spend(call) {
      const found = board.take(call, policyVersion(), clock.now());
      if (found === undefined) return undefined;
      try {
        return await audit.commit(async (tx) => {
          const usedAt = clock.now();
          if (!(await store.use(tx, found.id, usedAt))) return { value: undefined, entries: [] };
          const { id, agent, capability, toolHash = '' } = found;
          const facts = { approval: id, agent, capability, tool_hash: toolHash };
          return { value: { ...found, usedAt }, entries: [{ event: 'approval.used', actor: `agent:${agent}`, facts }] };
        });
      } catch (thrown) {
        // Nothing was done under it; whether it is spent, the row knows. Left off the board in doubt: the call asks again.
        const row = await store.get(found.id).catch(() => undefined);
        if (row !== undefined) settle(row);
        throw thrown;
      }
    },

    async wait(id, timeoutMs, signal) {
      // Listening starts before looking, so that a decision in between is not missed.
      const wait = waiting.start(id, timeoutMs, signal);
      try {
        const approval = await get(id);
        if (approval === undefined) throw new AppError('not_found', 'approvals.not_found', `There is no approval '${id}'.`);
        if (approval.state !== 'pending') return approval;
        return (await wait.outcome) ?? asOfNow(approval);
      } finally {
        wait.stop();
      }
    },

    async withdraw(agent) {
      const withdrawn = await audit.commit(async (tx) => {
        const approvals = await store.withdraw(tx, agent, clock.now());
        const entries = approvals.map(({ id, capability }): AuditEntry => {
          return { event: 'approval.expired', actor: 'daemon', facts: { approval: id, agent, capability, reason: 'agent ended' } };
        });
        return { value: approvals, entries };
      });
      for (const approval of withdrawn) settle(approval);
      return withdrawn.length;
    },

    async list({ all = false } = {}) {
      const approvals = (await store.list(all ? 'all' : 'open')).map(asOfNow);
      return all ? approvals : approvals.filter(({ state }) => state === 'pending');
    },

    close() {
      expiry.close();
      waiting.close();
    },
  };
}
