// Telling a client that a person is needed, where it can show that: a link to the page of the approval, or a form with the command. What it
// answers decides nothing (DESIGN invariant 3); it says only whether the call waits. The decision itself ends the wait.
import { actorOf, type AgentCaller } from '../../kernel/caller.ts';
import type { ClientHost } from '../../kernel/client-host.ts';
import type { ToolCall } from '../../kernel/dispatch.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Clock, Unsubscribe, UpstreamReply } from '../../kernel/ports.ts';
import { printable } from '../../lib/printable.ts';
import type { Agents } from '../agents/agents.ts';
import type { Approvals } from '../approvals/approvals.ts';
import type { Approval } from '../approvals/model.ts';
import type { Audit } from '../audit/audit.ts';
import type { Results } from '../results/results.ts';
import type { RedactCategory } from '../policy/model.ts';
import { elicits, isObject } from './ask-verdict.ts';
import { every, progressEveryMs } from './every.ts';

export interface ApprovalOfferDeps {
  readonly approvals: Pick<Approvals, 'wait'>;
  readonly agents: Pick<Agents, 'assertActive'>;
  readonly audit: Audit;
  readonly results: Results;
  readonly clock: Clock;
  /** Of the human door, without a slash at its end; `undefined` until it listens. */
  readonly humanUrl: () => string | undefined;
}

/** The call that waits, as far as an offer goes. */
export type WaitingCall = Pick<ToolCall, 'host' | 'signal' | 'onProgress'>;

export interface ApprovalOffers {
  /**
   * The approval as it stands when a person decided, when it expired, or when the wait is over: because the client does not want to wait,
   * cannot be asked, took the call back, or for time. Returned as it is where the client cannot be asked, or is asked about it already.
   */
  offer(approval: Approval, caller: AgentCaller, call: WaitingCall, redact: readonly RedactCategory[]): Promise<Approval>;
}

/** While the question is open, its client is known to wait. */
export const longestOfferMs = 10 * 60_000;
/** Afterwards, without a progress token, nothing tells that anybody still does (DESIGN §5 Waiting). */
export const silentWaitMs = 55_000;
const mostArgumentText = 500;

export function createApprovalOffers(deps: ApprovalOfferDeps): ApprovalOffers {
  const { approvals, agents, audit, clock, humanUrl } = deps;
  const open = new WeakMap<ClientHost, Set<string>>();
  let offers = 0;

  return {
    async offer(approval, caller, { host, signal, onProgress }, redact) {
      const mode = host === undefined ? undefined : modeFor(host, humanUrl());
      if (host === undefined || mode === undefined) return approval;
      const ofHost = open.get(host) ?? new Set();
      if (ofHost.has(approval.id)) return approval;
      open.set(host, ofHost.add(approval.id));
      const { id } = approval;
      const actor = actorOf(caller);
      const elicitationId = `${id}.${(offers += 1)}`;
      const params =
        mode.kind === 'url'
          ? { mode: 'url', elicitationId, url: `${mode.origin}/approvals/${id}`, message: urlMessage(approval) }
          : { message: formMessage(approval, shownArguments(deps, approval, redact)), requestedSchema };

      const taken = new AbortController();
      const over = new AbortController();
      const giveUp = (): void => over.abort();
      const stops: Unsubscribe[] = [];
      const startedAt = clock.monotonic();
      const seconds = (): number => Math.round((clock.monotonic() - startedAt) / 1_000);
      try {
        audit.append({ event: 'approval.offered', actor, facts: { approval: id, mode: mode.kind } });
        signal.addEventListener('abort', giveUp, { once: true });
        if (signal.aborted) giveUp();
        if (onProgress !== undefined) stops.push(every(clock, progressEveryMs, () => onProgress(waitingNote(id, seconds()))));
        host.ask({ method: 'elicitation/create', params: JSON.stringify(params), signal: taken.signal }).then((reply) => {
          if (!waitsOn(reply)) giveUp();
          else if (onProgress === undefined) stops.push(clock.after(silentWaitMs, giveUp));
        }, giveUp);
        const stands = await approvals.wait(id, longestOfferMs, over.signal);
        audit.append({ event: 'approval.waited', actor, facts: { approval: id, seconds: seconds(), state: stands.state } });
        if (mode.kind === 'url' && stands.state !== 'pending')
          host.notify('notifications/elicitation/complete', JSON.stringify({ elicitationId }));
        agents.assertActive(caller.agent);
        return stands;
      } finally {
        signal.removeEventListener('abort', giveUp);
        taken.abort();
        over.abort();
        for (const stop of stops) stop();
        ofHost.delete(id);
      }
    },
  };
}

type Mode = { readonly kind: 'url'; readonly origin: string } | { readonly kind: 'form' };

function modeFor({ capabilities }: ClientHost, origin: string | undefined): Mode | undefined {
  const { elicitation } = capabilities;
  if (!isObject(elicitation)) return undefined;
  if (origin !== undefined && elicits(elicitation, 'url')) return { kind: 'url', origin };
  return elicits(elicitation, 'form') ? { kind: 'form' } : undefined;
}

/** Accepted, and no word against waiting. Nothing in an answer says more than that. */
function waitsOn(reply: UpstreamReply): boolean {
  if (reply.kind === 'error' || reply.value['action'] !== 'accept') return false;
  const { content } = reply.value;
  return !isObject(content) || content['wait'] !== false;
}

const requestedSchema: JsonObject = {
  type: 'object',
  properties: {
    wait: {
      type: 'boolean',
      title: 'Wait for the decision',
      description: 'Yes: the call goes on as soon as a human has approved it. No: the agent is told that approval is pending.',
      default: true,
    },
  },
};

/** Under the token of the call, whose upstream may count from one: small steps, so that what it tells later is more. */
function waitingNote(id: string, seconds: number): JsonObject {
  return { progress: seconds / 1_000_000, message: `Waiting for a human: scopegate approve ${id}` };
}

function urlMessage({ agent, capability, id }: Approval): string {
  return `The agent ${agent} needs a human to approve ${capability}. The page says how: with the command scopegate approve ${id}. It decides nothing by itself.`;
}

function formMessage({ agent, capability, id, expiresAt }: Approval, args: string): string {
  return [
    'A human has to approve this before it runs.',
    `Agent: ${agent}`,
    `Capability: ${printable(capability)}`,
    `Arguments: ${args}`,
    `Waits until: ${new Date(expiresAt).toISOString()}`,
    `To approve, run in a terminal: scopegate approve ${id}`,
    'This form decides nothing; it only asks whether the call should wait.',
  ].join('\n');
}

function shownArguments({ results }: ApprovalOfferDeps, { args }: Approval, redact: readonly RedactCategory[]): string {
  if (args === undefined) return '(none)';
  const text = printable(results.redact(JSON.stringify(args), redact).json);
  if (text.length <= mostArgumentText) return text;
  const start = text.slice(0, mostArgumentText).replace(/[\uD800-\uDBFF]$/, '');
  return `${start}… (shortened; scopegate approve shows all of it)`;
}
