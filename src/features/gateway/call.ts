// The one page everything serves: who? what? may it? with what? where? back, record. Every request from every face comes through
// here; a second path is a security bug. Knows no door, no wire and no storage.
import type { AgentCaller, Caller } from '../../kernel/caller.ts';
import { actorOf } from '../../kernel/caller.ts';
import type {
  ChangingList,
  Dispatch,
  RelayAnswer,
  RelayRequest,
  ResourceFollowing,
  ToolAnswer,
  ToolCall,
} from '../../kernel/dispatch.ts';
import { AppError, asAppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Operation } from '../../kernel/operation.ts';
import type { Clock, Digest, Unsubscribe } from '../../kernel/ports.ts';
import type { Agents } from '../agents/agents.ts';
import type { Audit, Intent } from '../audit/audit.ts';
import type { Defences } from '../defences/defences.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { CatalogTool, Naming } from '../fleet/model.ts';
import type { Operator } from '../operator/operator.ts';
import type { Results } from '../results/results.ts';
import { admit, assertStillAdmitted, assertUntainted, refusedByPolicy, type OfferingDeps } from './admission.ts';
import { errandOf } from './errands.ts';
import { createExchange, type Exchanged } from './exchange.ts';
import { needsInput } from './fulfil.ts';
import { createGovernedHosts } from './governed-hosts.ts';
import { createFollowing } from './following.ts';
import { createListing } from './listing.ts';
import { createLogLevels } from './log-levels.ts';
import type { Admission, Errand, Sending } from './model.ts';
import { createOfferListing } from './offer-listing.ts';
import { createOfferings } from './offering.ts';
import { outcomeOf, outcomeOfError } from './outcome.ts';
import { createOperations } from './run-operation.ts';
import { taskAsks, taskMade } from './task-words.ts';
import { createTasks } from './tasks.ts';

export interface GatewayDeps extends OfferingDeps {
  readonly audit: Audit;
  readonly operator: Operator;
  readonly agents: Agents;
  readonly fleet: Fleet;
  readonly results: Results;
  readonly defences: Defences;
  readonly clock: Clock;
  readonly digest: Pick<Digest, 'sha256'>;
  readonly operations: readonly Operation[];
  /** The fleet's; default: plain. */
  readonly naming?: Naming;
}

export function createGateway(deps: GatewayDeps): Dispatch {
  const { audit, agents, policy, fleet, results, defences, clock } = deps;
  const listing = createListing(deps);
  const offers = createOfferListing(deps);
  const offerings = createOfferings({ fleet, policy, listing, offers });
  const logLevels = createLogLevels({ fleet, reaches: (agent, upstream) => offerings.reaches(agent, upstream) });
  const tasks = createTasks({ ...deps, offerings });
  const own = createOperations(deps);
  const rootsOf = (upstream: string): readonly string[] => fleet.rootsOf(upstream);
  const hosts = createGovernedHosts({ ...deps, rootsOf, wantsLog: (caller, level) => logLevels.wanted(caller, level) });
  const following = createFollowing({ ...deps, offers, hosts });
  const exchange = createExchange({ ...deps, hosts, rootsOf });

  async function callTool(caller: AgentCaller, call: ToolCall): Promise<ToolAnswer> {
    let errand: Errand;
    let admission: Admission;
    try {
      agents.assertActive(caller.agent);
      const operation = listing.operation(call);
      if (defences.decoys.armed) await defences.inspect(caller.agent, call.name, [call.args, call.rest], operation !== undefined);
      if (operation !== undefined) return await own.call(caller, operation, call);
      errand = errandFor(caller, find(caller, call), call);
      admission = await admit(deps, caller, errand.subject, errand.args, call);
    } catch (thrown) {
      throw noted(caller, { tool: call.name }, asAppError(thrown));
    }
    return forward(caller, errand, admission, call);
  }

  async function relay(caller: AgentCaller, request: RelayRequest): Promise<RelayAnswer> {
    const { target } = request;
    let errand: Errand;
    let admission: Admission;
    try {
      agents.assertActive(caller.agent);
      if (defences.decoys.armed)
        await defences.inspect(caller.agent, request.method, [request.args, request.rest, wordOf(target)], false);
      if (target.kind === 'task' || target.kind === 'tasks') ({ errand, admission } = tasks.errand(caller, request));
      else {
        errand = errandOf({ fleet, policy, offers }, caller, request, target);
        admission = await admit(deps, caller, errand.subject, errand.args, request);
      }
    } catch (thrown) {
      throw noted(caller, { method: request.method, target: wordOf(target) }, asAppError(thrown));
    }
    return forward(caller, errand, admission, request);
  }

  function errandFor(caller: AgentCaller, tool: CatalogTool, asked: ToolCall): Errand {
    const { client, args, signal } = asked;
    const rest = asked.rest['task'] === undefined ? asked.rest : tasks.restOf(caller, tool.upstream, asked);
    const call = { agent: caller.agent, session: caller.session, client, tool, args, signal };
    return {
      subject: tool,
      args,
      send: (sending, more) => fleet.call({ ...call, rest: more === undefined ? rest : { ...rest, ...more }, ...sending }),
    };
  }

  /** What a deny covers answers `policy.denied` whether or not it exists (DESIGN invariant 7). */
  function find(caller: AgentCaller, call: ToolCall): CatalogTool {
    const named = listing.target(caller, call);
    if (named === undefined) throw unknownTool(call.name);
    const resolution = fleet.resolve(named.upstream, named.tool);
    if (resolution.kind === 'tool') return resolution.tool;
    const verdict = policy.decide({ agent: caller.agent, capability: named.capability, args: call.args ?? {} });
    if (verdict.effect === 'deny' && verdict.hard) throw refusedByPolicy(named.capability, verdict);
    if (resolution.kind === 'unknown') throw unknownTool(call.name);
    throw new AppError(
      'denied',
      'fleet.quarantined',
      `The definition of '${named.upstream}__${named.tool}' changed and waits for a human to accept it.`,
      {
        hint: `Ask the human to run: sallyport tools review ${named.upstream}`,
      },
    );
  }

  async function forward(
    caller: AgentCaller,
    errand: Errand,
    admission: Admission,
    call: Exchanged & Pick<ToolCall, 'onProgress' | 'scope'>,
  ): Promise<RelayAnswer> {
    const host = exchange.hostOf(caller, errand, call);
    if (admission.redact.length > 0) host?.masks(admission.redact);
    const answers = exchange.answersOf(errand, call);
    const intent = await recordIntent(caller, errand, admission, answers);
    const startedAt = clock.monotonic();
    const mask = (json: string, value?: JsonObject): string => results.redact(json, admission.redact, value).json;
    const sending: Sending = {
      onProgress: masked(call.onProgress, admission, mask),
      host,
      until: admission.until ?? clock.now() + admission.ttlMs,
      beforeSend() {
        agents.assertActive(caller.agent);
        assertStillAdmitted(policy, caller.agent, errand.subject, errand.args, admission);
        // What is said about a task belongs to the call that made it, which was let pass.
        if (errand.method?.startsWith('tasks/') !== true) assertUntainted(deps, caller.agent, errand.subject, admission);
      },
    };
    try {
      let answer = await errand.send(sending, answers);
      if (needsInput(answer) || taskAsks(errand.method, answer))
        answer = await exchange.goOn(answer, { caller, errand, sending, call, host, intent: intent.id });
      defences.taint.look(caller.agent, errand.subject.capability, answer.json);
      const json = answer.kind === 'result' ? mask(answer.json, answer.value) : mask(answer.json);
      intent.close(outcomeOf(answer), { chars: json.length, ms: Math.round(clock.monotonic() - startedAt) }, { answer: json });
      if (answer.kind === 'error') return { kind: 'upstream_error', error: json };
      const task = taskMade(answer.value, call.rest['task'] !== undefined);
      const taken = task && tasks.made(task, { caller, scope: call.scope, intent: intent.id, host: call.host, errand, admission });
      if (taken !== undefined) throw taken;
      return { kind: 'upstream', result: json };
    } catch (thrown) {
      const error = asAppError(thrown);
      intent.close(outcomeOfError(error), { code: error.code, ms: Math.round(clock.monotonic() - startedAt) });
      throw error;
    }
  }

  /** `answers`: what goes upstream beside the params, to what it asked within an earlier result. */
  function recordIntent(
    caller: AgentCaller,
    errand: Errand,
    admission: Admission,
    answers: JsonObject | undefined,
  ): Intent | Promise<Intent> {
    const { subject, args, method } = errand;
    const sealed = answers === undefined ? errand.sealed : { ...errand.sealed, answers: JSON.stringify(answers) };
    const known = errand.reads === true || defences.settings.effectOf(subject.capability, subject.annotations) === 'read';
    return audit.intent(
      {
        event: 'call.intent',
        actor: actorOf(caller),
        // In the order of their keys, which spares the record the sorting.
        facts: {
          capability: subject.capability,
          ...admission.standsOn,
          ...(method === undefined ? undefined : { method }),
          policy: admission.policy,
          rule: admission.rule,
          ...(subject.hash === undefined ? undefined : { tool_hash: subject.hash }),
        },
        sealed: sealed === undefined ? { args: JSON.stringify(args ?? {}) } : { args: JSON.stringify(args ?? {}), ...sealed },
      },
      known ? 'written' : 'synced',
    );
  }

  /** Every refusal of a call is on the record, and every reach for what is not there; after the intent the outcome is. */
  function noted(caller: AgentCaller, reachedFor: { readonly [what: string]: string }, error: AppError): AppError {
    if (error.kind === 'denied' || error.kind === 'limited' || reaching.has(error.code)) {
      audit.appendQuietly({
        event: 'call.refused',
        actor: actorOf(caller),
        facts: {
          code: error.code,
          ...(typeof error.data?.['approval_id'] === 'string' ? { approval: error.data['approval_id'] } : {}),
        },
        sealed: reachedFor,
      });
    }
    return error;
  }

  async function follow(caller: AgentCaller, request: ResourceFollowing): Promise<void> {
    try {
      agents.assertActive(caller.agent);
      await defences.inspect(caller.agent, 'resources/subscribe', [request.uri], false);
      await following.follow(caller, request);
    } catch (thrown) {
      throw noted(caller, { method: 'resources/subscribe', target: request.uri }, asAppError(thrown));
    }
  }

  function followLists(listener: (list: ChangingList) => void): Unsubscribe {
    const stops = [
      fleet.onCatalogChanged(() => listener('tools')),
      fleet.onOffersChanged(listener),
      policy.onChanged(() => (['tools', 'prompts', 'resources'] as const).forEach(listener)),
    ];
    return () => stops.forEach((stop) => stop());
  }

  return {
    callTool,
    relay,
    tools: (caller, scope) => listing.tools(caller, scope),
    list: (caller, scope, list) => offers.list(caller, scope, list),
    offering: (caller, scope) => offerings.of(caller, scope),
    follow,
    unfollow: (caller, request) => following.unfollow(caller, request),
    setLogLevel: (caller, level) => logLevels.set(caller, level),
    rootsChanged: (caller) => fleet.rootsChanged(caller),
    operations: deps.operations,
    operate: (caller: Caller, name, input, signal, secrets) => own.operate(caller, name, input, signal, secrets),
    prepare: (caller, name, input, signal) => own.prepare(caller, name, input, signal),
    onListChanged: (listener) => followLists(listener),
    sessionEnded(session) {
      following.sessionEnded(session);
      logLevels.end(session);
      tasks.sessionEnded(session);
      fleet.endSession(session);
    },
    refused(door, reason, facts) {
      audit.appendQuietly({ event: 'door.refused', actor: 'daemon', facts: { door, reason, ...facts } });
    },
  };
}

/** Refusals for what is not there, which is worth knowing of all the same. */
const reaching: ReadonlySet<string> = new Set([
  'gateway.unknown_tool',
  'gateway.unknown_prompt',
  'gateway.unknown_resource',
  'gateway.unknown_method',
  'gateway.unknown_task',
  'gateway.bad_uri',
]);

function wordOf(target: RelayRequest['target']): string {
  if (target.kind === 'tasks') return '';
  if (target.kind === 'task') return target.id;
  return 'uri' in target ? target.uri : target.name;
}

function unknownTool(name: string): AppError {
  return new AppError('invalid', 'gateway.unknown_tool', `Unknown tool '${name}'`);
}

function masked(
  listener: ToolCall['onProgress'],
  admission: Admission,
  mask: (json: string) => string,
): ((note: JsonObject) => void) | undefined {
  if (listener === undefined || admission.redact.length === 0) return listener;
  return (note) => listener(JSON.parse(mask(JSON.stringify(note))) as JsonObject);
}
