// A proposal: a rule an agent would like to have, and why. pending → accepted | rejected | withdrawn. Pure; changes no policy.
import { AppError, asAppError } from '../../../kernel/errors.ts';
import { printable } from '../../../lib/printable.ts';
import { parsePattern } from '../pattern.ts';
import type { NewRule } from '../rule-insertion.ts';
import { formatTtl, parseTtl } from '../ttl.ts';

export type ProposalState = 'pending' | 'accepted' | 'rejected' | 'withdrawn';

export interface Proposal {
  /** Counted from 1, never given twice: what a person types. */
  readonly n: number;
  readonly agent: string;
  /** A pattern of the rule kind, as the agent wrote it. */
  readonly match: string;
  readonly ttlMs?: number;
  /** The agent's own words: any text. */
  readonly justification: string;
  /** What it collided with when it was made; the contract's `lint_note`. */
  readonly conflict?: string;
  /** Milliseconds since the Unix epoch. */
  readonly proposedAt: number;
  readonly state: ProposalState;
  readonly decidedAt?: number;
  /** A rejection's words, for the agent. */
  readonly reason?: string;
}

export type Proposed =
  | { readonly kind: 'queued' | 'deduped'; readonly proposal: Proposal; readonly remarks: readonly string[] }
  /** A person said no to the very same within the last ten minutes. */
  | { readonly kind: 'rejected'; readonly proposal: Proposal; readonly retryAfterMs: number };

/** What an agent may do here. */
export interface Proposals {
  readonly path: string;
  /**
   * `ttl` as agents write it. Idempotent while it is pending. Throws `policy.bad_proposal`, `policy.too_many_proposals` and what the
   * commit throws.
   */
  propose(agent: string, wanted: { match: string; ttl?: string | undefined; justification: string }): Promise<Proposed>;
}

/** Pending ones of one agent. */
export const mostPending = 50;
/** The same proposal gets the same no for so long. */
export const rejectionMemoryMs = 10 * 60_000;

/** The rule a proposal is about. Throws `policy.bad_proposal` (kind invalid) in the words of the gate contract. */
export function proposedRule(match: string, ttl: string | undefined): NewRule {
  return { pattern: inWords('match: ', match, parsePattern), ttlMs: ttl === undefined ? undefined : inWords('', ttl, parseTtl) };
}

function inWords<T>(what: '' | 'match: ', text: string, parse: (text: string) => T): T {
  try {
    return parse(text);
  } catch (thrown) {
    const { message, hint = '' } = asAppError(thrown);
    const glob = what === '' ? '' : `invalid glob '${printable(text.slice(0, 80))}' — `;
    throw new AppError('invalid', 'policy.bad_proposal', `Proposal rejected: ${what}${glob}${message}`, { hint });
  }
}

/** The rule of a stored proposal, for at most `ttlMs` where a person shortens it. Throws `policy.bad_ttl` for a longer one. */
export function ruleOf({ match, ttlMs: proposed }: Proposal, ttlMs = proposed): NewRule {
  if (ttlMs !== undefined && proposed !== undefined && ttlMs > proposed) {
    throw new AppError('invalid', 'policy.bad_ttl', `The ttl may only be shortened: ${formatTtl(proposed)} was proposed.`, {
      hint: 'Write a longer one into policies.yaml yourself, then run: sallyport policies adopt',
    });
  }
  return { pattern: parsePattern(match), ttlMs };
}

export function noProposal(n: number): AppError {
  return new AppError('not_found', 'policy.no_proposal', `There is no proposal ${n}.`, {
    hint: 'See: sallyport policies review --all',
  });
}

export function notPending({ n, state }: Pick<Proposal, 'n' | 'state'>): AppError {
  return new AppError('conflict', 'policy.not_pending', `Proposal ${n} is ${state} already.`, {
    hint: 'See what waits: sallyport policies review',
  });
}
