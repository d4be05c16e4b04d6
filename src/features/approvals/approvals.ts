// The face of the approvals slice: asking a person, waiting for the answer, and spending it once.
import type { JsonObject } from '../../kernel/json.ts';
import type { Guard } from '../policy/model.ts';
import type { Approval } from './model.ts';

export interface Question {
  readonly agent: string;
  readonly origin: Approval['origin'];
  readonly capability: string;
  readonly rule: string;
  readonly reason: string;
  readonly args?: JsonObject;
  readonly toolHash?: string;
  readonly ttlMs: number;
  readonly guards: readonly Guard[];
}

export interface Approvals {
  /**
   * The open approval for this exact question (same agent, origin, capability, arguments, tool hash, ttl), made if there is none.
   * Throws `approvals.denied` with retryAfterMs within 10 minutes of a denial of the same question, `approvals.too_many` beyond
   * 5 open per agent.
   */
  ask(question: Question): Promise<Approval>;
  /**
   * Takes the one execution an approval of this exact call bought (agent, capability, arguments, tool definition), in a commit of its own
   * made before the effect; `undefined` when there is none. Bound to the policy version: a text that now denies was checked before.
   */
  spend(call: { readonly agent: string; readonly capability: string; readonly args: JsonObject | undefined; readonly toolHash: string }): Promise<Approval | undefined>;
  /** Resolves when the approval leaves `pending`, when `timeoutMs` passes or the signal aborts: woken by the decision, never polling. */
  wait(id: string, timeoutMs: number, signal: AbortSignal): Promise<Approval>;
  get(id: string): Promise<Approval | undefined>;
  list(filter?: { readonly all?: boolean }): Promise<readonly Approval[]>;
  close(): void;
}
