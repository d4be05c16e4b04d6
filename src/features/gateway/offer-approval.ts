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
import { formatTtl, type RedactCategory } from '../policy/model.ts';
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
  /**
   * Shows it to a client while somebody else waits; what is returned has to be called when that wait is over. `answered` is called once,
   * with whether the client wants to wait. Nothing where the client cannot be asked, or is asked about it already.
   */
  show(
    approval: Approval,
    caller: AgentCaller,
    host: ClientHost,
    redact: readonly RedactCategory[],
    answered: (waits: boolean) => void,
  ): ((state: Approval['state']) => void) | undefined;
}

/** While the question is open, its client is known to wait. */
export const longestOfferMs = 10 * 60_000;
/** Afterwards, without a progress token, nothing tells that anybody still does (DESIGN §5 Waiting). */
export const silentWaitMs = 55_000;
const mostText = 500;

export function createApprovalOffers(deps: ApprovalOfferDeps): ApprovalOffers {
  const { approvals, agents, audit, clock, humanUrl } = deps;
  const open = new WeakMap<ClientHost, Set<string>>();
  let offers = 0;

  const show: ApprovalOffers['show'] = (approval, caller, host, redact, answered) => {
    const mode = modeFor(host, humanUrl());
    const ofHost = open.get(host) ?? new Set();
    if (mode === undefined || ofHost.has(approval.id)) return undefined;
    const { id } = approval;
    const elicitationId = `${id}.${(offers += 1)}`;
    const params =
      mode.kind === 'url'
        ? { mode: 'url', elicitationId, url: `${mode.origin}/approvals/${id}`, message: urlMessage(approval) }
        : { message: formMessage(approval, shownArguments(deps, approval, redact)), requestedSchema };
    audit.append({ event: 'approval.offered', actor: actorOf(caller), facts: { approval: id, mode: mode.kind } });
    open.set(host, ofHost.add(id));
    const taken = new AbortController();
    const settle = (waits: boolean): void => {
      if (!taken.signal.aborted) answered(waits);
    };
    host.ask({ method: 'elicitation/create', params: JSON.stringify(params), signal: taken.signal }).then(
      (reply) => settle(waitsOn(reply)),
      () => settle(false),
    );
    return (state) => {
      taken.abort();
      ofHost.delete(id);
      if (mode.kind === 'url' && state !== 'pending')
        host.notify('notifications/elicitation/complete', JSON.stringify({ elicitationId }));
    };
  };

  return {
    show,
    async offer(approval, caller, { host, signal, onProgress }, redact) {
      const over = new AbortController();
      const giveUp = (): void => over.abort();
      const stops: Unsubscribe[] = [];
      const shown =
        host &&
        show(approval, caller, host, redact, (waits) => {
          if (!waits) giveUp();
          else if (onProgress === undefined) stops.push(clock.after(silentWaitMs, giveUp));
        });
      if (shown === undefined) return approval;
      const { id } = approval;
      const startedAt = clock.monotonic();
      const seconds = (): number => Math.round((clock.monotonic() - startedAt) / 1_000);
      let { state } = approval;
      try {
        signal.addEventListener('abort', giveUp, { once: true });
        if (signal.aborted) giveUp();
        if (onProgress !== undefined) stops.push(every(clock, progressEveryMs, () => onProgress(waitingNote(id, seconds()))));
        const stands = await approvals.wait(id, longestOfferMs, over.signal);
        ({ state } = stands);
        audit.append({ event: 'approval.waited', actor: actorOf(caller), facts: { approval: id, seconds: seconds(), state } });
        agents.assertActive(caller.agent);
        return stands;
      } finally {
        shown(state);
        signal.removeEventListener('abort', giveUp);
        for (const stop of stops) stop();
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

function formMessage({ agent, capability, id, expiresAt, origin, ttlMs, reason }: Approval, args: string): string {
  const buys =
    origin === 'request'
      ? [`For: ${formatTtl(ttlMs)}, with any arguments`, `The agent says: “${shortened(printable(reason))}”`]
      : [`Arguments: ${args}`];
  return [
    'A human has to approve this before it runs.',
    `Agent: ${agent}`,
    `Capability: ${printable(capability)}`,
    ...buys,
    `Waits until: ${new Date(expiresAt).toISOString()}`,
    `To approve, run in a terminal: scopegate approve ${id}`,
    'This form decides nothing; it only asks whether the call should wait.',
  ].join('\n');
}

function shownArguments({ results }: ApprovalOfferDeps, { args }: Approval, redact: readonly RedactCategory[]): string {
  if (args === undefined) return '(none)';
  return shortened(printable(results.redact(JSON.stringify(args), redact).json));
}

function shortened(text: string): string {
  if (text.length <= mostText) return text;
  return `${text.slice(0, mostText).replace(/[\uD800-\uDBFF]$/, '')}… (shortened; scopegate approve shows all of it)`;
}
