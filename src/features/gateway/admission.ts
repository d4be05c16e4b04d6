// May it? One place decides it for a call: policy first, then the grant or approval the verdict needs. Whatever is refused here
// never reached an upstream. Knows nothing of doors and nothing of what the tool does.
import { AppError } from '../../kernel/errors.ts';
import type { AgentCaller } from '../../kernel/caller.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Approvals } from '../approvals/approvals.ts';
import type { Approval, Question } from '../approvals/model.ts';
import type { Defences } from '../defences/defences.ts';
import type { Grants } from '../grants/grants.ts';
import type { Verdict } from '../policy/model.ts';
import type { Policy } from '../policy/policy.ts';
import { adviceOn } from './advice.ts';
import { heldGrant } from './held-grant.ts';
import type { Admission, Subject } from './model.ts';
import type { ApprovalOffers, WaitingCall } from './offer-approval.ts';
import type { Rate } from './rate.ts';

export interface AdmissionDeps {
  readonly policy: Policy;
  readonly grants: Grants;
  readonly approvals: Approvals;
  readonly rate: Rate;
  readonly defences: Pick<Defences, 'taint'>;
}

/** For calls that may wait for a decision. */
export interface OfferingDeps extends AdmissionDeps {
  readonly approvalOffers: ApprovalOffers;
}

/** `Capability 'x' not granted. …`, the sentence of the gate contract (Proxied tools), verbatim. */
function notGranted(capability: string, reason: string, approval?: Approval): string {
  const sentence =
    `Capability '${capability}' not granted. Call scopegate_request_capability first ` +
    `(or scopegate_propose_policy if denied). Reason: ${reason}`;
  if (approval === undefined) return `ERROR: ${sentence}`;
  return `ERROR: ${sentence} Approval request ${approval.id} is pending — ask the human to run: scopegate approve ${approval.id}`;
}

/** A refusal by policy as the error every face understands. */
export function refusedByPolicy(capability: string, verdict: Extract<Verdict, { effect: 'deny' }>): AppError {
  return new AppError('denied', 'policy.denied', notGranted(capability, verdict.reason), {
    data: { deny: verdict.code, hard: verdict.hard },
    // What no rule speaks about may be asked for, and the face says how.
    ...(verdict.code === 'no_rule' ? {} : { hint: adviceOn(verdict) }),
  });
}

/**
 * Lets one call with exactly these arguments pass, or throws: `policy.denied`, `approvals.pending` with the id to approve,
 * `approvals.denied`, `approvals.expired`, `approvals.too_many`, `gateway.rate_limited`. Evaluates the literal capability anew each time
 * (DESIGN invariant 2); an answer "ask" is met only by a grant or approval a person gave. Where the client of `call` can be told that a
 * person is needed, the call waits for that person, and is then admitted as if it were made again.
 */
export async function admit(
  deps: OfferingDeps,
  caller: AgentCaller,
  subject: Subject,
  args: JsonObject | undefined,
  call?: WaitingCall,
): Promise<Admission> {
  const { policy, grants, approvals, rate } = deps;
  const { agent } = caller;
  const { capability, annotations } = subject;
  const verdict = policy.decide({ agent, capability, args: args ?? {}, annotations });
  if (verdict.effect === 'deny') throw refusedByPolicy(capability, verdict);
  const { rule, redact, ttlMs } = verdict;
  const exact = exactly(deps, agent, subject, verdict);
  const decided = { policy: policy.version(), rule, redact, ttlMs, byPerson: verdict.effect === 'ask' || exact !== undefined };
  const charge = (): void => rate.take(agent, policy.limits(agent).rate);

  const held = exact === undefined ? heldGrant(grants, agent, capability, verdict, args ?? {}) : undefined;
  if (held !== undefined) return { ...decided, until: held.expiresAt, standsOn: { grant: held.id } };

  if (verdict.effect === 'allow' && exact === undefined) {
    if (subject.countless === true) return { ...decided, standsOn: {} };
    const grant = await grants.issue({ agent, capability, origin: 'policy', rule, ttlMs }, charge);
    return { ...decided, until: grant.expiresAt, standsOn: { grant: grant.id } };
  }

  const definition = subject.hash === undefined ? {} : { toolHash: subject.hash };
  const bought = await approvals.spend({ agent, capability, args, ...definition });
  if (bought !== undefined) return { ...decided, standsOn: { approval: bought.id } };

  const question: Question = {
    agent,
    origin: 'call',
    capability,
    rule: exact?.rule ?? rule,
    reason: '',
    ...(args === undefined ? {} : { args }),
    ...definition,
    ttlMs,
    guards: verdict.guards,
  };
  const asked = await approvals.ask(question, charge);
  if (call?.host !== undefined) {
    const { state } = await deps.approvalOffers.offer(asked, caller, call, redact);
    if (state === 'approved' || state === 'denied') return admit(deps, caller, subject, args);
    if (state === 'expired') throw expired(capability);
  }
  const why = exact?.reason ?? verdict.reason;
  throw new AppError('denied', 'approvals.pending', notGranted(capability, why, asked), {
    hint: `Ask the human to run: scopegate approve ${asked.id}. Then make the same call again with the same arguments.`,
    data: { approval_id: asked.id, approval_expires_at: new Date(asked.expiresAt).toISOString(), reason: why },
  });
}

interface Exactly {
  /** What asks, as the person reads it. */
  readonly rule: string;
  readonly reason: string;
}

/** Why a person has to agree to exactly this, whatever grants there are; `undefined` where nobody has to. */
function exactly(
  deps: AdmissionDeps,
  agent: string,
  subject: Subject,
  verdict: Exclude<Verdict, { effect: 'deny' }>,
): Exactly | undefined {
  const { capability, exactUnless } = subject;
  const taint = taintOn(deps, agent, subject);
  if (taint !== undefined) return { rule: 'taint', reason: taint };
  if (exactUnless === undefined) return undefined;
  const { effect, rule, reason } = verdict;
  if (effect === 'ask') return { rule, reason };
  if (rule.startsWith(exactUnless)) return undefined;
  const words = `Capability '${capability}' requires human approval unless a rule names it; '${rule}' does not.`;
  return { rule: `${exactUnless}*`, reason: words };
}

function taintOn({ defences }: Pick<AdmissionDeps, 'defences'>, agent: string, subject: Subject): string | undefined {
  const { capability, annotations } = subject;
  return defences.taint.asks(agent, capability, annotations);
}

/**
 * At the instant of sending: the agent may have read something suspicious since the call was let pass. What a person approved goes on.
 * Throws `policy.denied`; made again, the call asks.
 */
export function assertUntainted(
  deps: Pick<AdmissionDeps, 'defences'>,
  agent: string,
  subject: Subject,
  { standsOn }: Admission,
): void {
  if ('approval' in standsOn) return;
  const reason = taintOn(deps, agent, subject);
  if (reason !== undefined) throw refusedByPolicy(subject.capability, { effect: 'deny', code: 'no_rule', hard: false, reason });
}

function expired(capability: string): AppError {
  return new AppError('denied', 'approvals.expired', `Nobody decided in time about '${capability}'.`, {
    hint: 'Make the same call again when a human is there.',
  });
}

/**
 * Asked at the instant of sending, after every wait (a commit, a record, the start of an upstream): another policy may have come into
 * force since the call was let pass, and a new deny or a new question bites at once. Throws `policy.denied`.
 */
export function assertStillAdmitted(
  policy: Policy,
  agent: string,
  { capability, annotations }: Subject,
  args: JsonObject | undefined,
  admission: Admission,
): void {
  if (policy.version() === admission.policy) return;
  const verdict = policy.decide({ agent, capability, args: args ?? {}, annotations });
  if (verdict.effect === 'deny') throw refusedByPolicy(capability, verdict);
  if (verdict.effect === 'allow' || admission.byPerson) return;
  throw refusedByPolicy(capability, { effect: 'deny', code: 'no_rule', hard: false, reason: verdict.reason });
}
