// The client behind a call as one upstream may see it: every question is decided, recorded, masked and held to what the operator allows
// before the client sees it. One object for each client and upstream, so that identity still tells clients apart.
import { actorOf, type AgentCaller } from '../../kernel/caller.ts';
import type { ClientHost, HostRequest } from '../../kernel/client-host.ts';
import { asAppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { UpstreamReply } from '../../kernel/ports.ts';
import { hasDuplicateKeys } from '../../lib/json-text.ts';
import type { Agents } from '../agents/agents.ts';
import type { Audit } from '../audit/audit.ts';
import type { Defences } from '../defences/defences.ts';
import type { Results } from '../results/results.ts';
import type { RedactCategory } from '../policy/model.ts';
import { beyondClient, isKnown, isObject, methodCapability, policyOnAsk, type AskDeps, type AskVerdict } from './ask-verdict.ts';
import { outcomeOfError } from './outcome.ts';
import { limitRoots } from './roots.ts';
import { shownCapabilities } from './shown-capabilities.ts';

export interface GovernedHost extends ClientHost {
  /** What is masked in an answer of this upstream to this client is masked in all else it shows it. */
  masks(categories: readonly RedactCategory[]): void;
}

export interface GovernedHostDeps extends AskDeps {
  readonly agents: Pick<Agents, 'assertActive'>;
  readonly audit: Audit;
  readonly results: Results;
  readonly defences: Pick<Defences, 'decoys' | 'inspect'>;
  /** The places of sallyport.yaml whose part of a client's roots this upstream is told. */
  readonly rootsOf: (upstream: string) => readonly string[];
  /** Whether the caller wants log messages of this level. */
  readonly wantsLog: (caller: AgentCaller, level: unknown) => boolean;
}

export interface GovernedHosts {
  of(host: ClientHost, upstream: string, caller: AgentCaller): GovernedHost;
}

/** What the two sides of a session say to each other about it: never passed from one session to another, whatever a rule allows. */
const ofTheSession =
  /^notifications\/(?:cancelled|progress|initialized|(?:tools|prompts|resources|roots)\/list_changed|resources\/updated)$/;

const unavailable = -32603;
const invalidParams = -32602;
/** Of one upstream, at one client. */
const mostOpen = 32;

export function createGovernedHosts(deps: GovernedHostDeps): GovernedHosts {
  const known = new WeakMap<ClientHost, Map<string, GovernedHost>>();
  return {
    of(host, upstream, caller) {
      let own = known.get(host);
      if (own === undefined) known.set(host, (own = new Map()));
      let governed = own.get(upstream);
      if (governed === undefined) own.set(upstream, (governed = govern(deps, host, upstream, caller)));
      return governed;
    },
  };
}

function govern(deps: GovernedHostDeps, host: ClientHost, upstream: string, caller: AgentCaller): GovernedHost {
  const { policy, agents, audit, results, defences, rootsOf, wantsLog } = deps;
  const masked = new Set<RedactCategory>();
  const actor = actorOf(caller);
  let shown: JsonObject | undefined;
  let shownUnder = '';
  let open = 0;

  function capabilities(): JsonObject {
    const allowed = rootsOf(upstream).length > 0;
    const under = `${policy.version()} ${allowed}`;
    if (shown === undefined || shownUnder !== under) {
      shownUnder = under;
      const mayPass = (method: string): boolean => {
        if (method === 'roots/list' && !allowed) return false;
        return policyOnAsk(deps, caller, upstream, method, undefined).effect === 'pass';
      };
      shown = shownCapabilities(host.capabilities, mayPass, caller.sessionless !== true);
    }
    return shown;
  }

  function verdictOn(method: string, params: JsonObject): AskVerdict {
    try {
      agents.assertActive(caller.agent);
    } catch (thrown) {
      return { effect: 'refuse', code: unavailable, message: asAppError(thrown).message };
    }
    const verdict = policyOnAsk(deps, caller, upstream, method, params);
    return verdict.effect === 'refuse' ? verdict : (beyondClient(method, params, capabilities()) ?? verdict);
  }

  function mask(text: string, redact: readonly RedactCategory[]): string {
    const categories = redact.length === 0 ? masked : new Set([...masked, ...redact]);
    return categories.size === 0 ? text : results.redact(text, [...categories]).json;
  }

  function refuse(method: string, code: number, message: string): UpstreamReply {
    // A method of the upstream's own making is a text of its own making.
    const asked = isKnown(method) ? { facts: { upstream, code, method } } : { facts: { upstream, code }, sealed: { method } };
    audit.appendQuietly({ event: 'ask.refused', actor, ...asked });
    return { kind: 'error', code, json: JSON.stringify({ code, message }) };
  }

  /** What the operator's limits leave of an answer. */
  function limited(method: string, reply: UpstreamReply): UpstreamReply {
    if (method !== 'roots/list' || reply.kind === 'error') return reply;
    const value = limitRoots(reply.value, rootsOf(upstream));
    return { kind: 'result', value, json: JSON.stringify(value) };
  }

  /** What the answer carries is no business of the upstream's, and neither is why it gets none. */
  async function touchesDecoy(method: string, given: UpstreamReply): Promise<boolean> {
    if (!defences.decoys.armed) return false;
    const sent = given.kind === 'result' ? given.value : given.json;
    return defences.inspect(caller.agent, method, [sent], false).then(
      () => false,
      () => true,
    );
  }

  async function ask(request: HostRequest): Promise<UpstreamReply> {
    if (open >= mostOpen) return refuse(request.method, unavailable, `${mostOpen} questions to this client are open already.`);
    open += 1;
    try {
      return await put(request);
    } finally {
      open -= 1;
    }
  }

  async function put(request: HostRequest): Promise<UpstreamReply> {
    const { method, params: text = '{}' } = request;
    const params = JSON.parse(text) as JsonObject;
    // Decided in one reading and shown in another.
    if (hasDuplicateKeys(text)) return refuse(method, invalidParams, 'A key stands twice in the params.');
    const verdict = verdictOn(method, params);
    if (verdict.effect === 'refuse') return refuse(method, verdict.code, verdict.message);
    const { rule, redact } = verdict;
    const facts = { upstream, method, capability: methodCapability(upstream, method), ...(rule === undefined ? {} : { rule }) };
    const intent = await audit
      .intent({ event: 'ask.relayed', actor, facts, sealed: { params: text } }, 'written')
      .catch(() => undefined);
    if (intent === undefined) return refuse(method, unavailable, 'Nothing is asked that cannot be recorded.');
    try {
      const given = await host.ask(request.params === undefined ? request : { ...request, params: mask(text, redact) });
      if (await touchesDecoy(method, given)) {
        intent.close('refused', { code: unavailable });
        return refuse(method, unavailable, 'The answer is not passed on.');
      }
      // People take their time: of whoever was suspended, or may not be asked any more, nothing is passed on.
      const now = verdictOn(method, params);
      if (now.effect === 'refuse') {
        intent.close('refused', { code: now.code });
        return refuse(method, now.code, now.message);
      }
      const reply = limited(method, given);
      intent.close(reply.kind === 'result' ? 'ok' : 'error', actionOf(reply), { answer: given.json });
      return reply;
    } catch (thrown) {
      const error = asAppError(thrown);
      intent.close(outcomeOfError(error), { code: error.code });
      if (error.code === 'fleet.cancelled') throw error;
      const { code, message } = { code: unavailable, message: error.kind === 'internal' ? 'Internal error.' : error.message };
      return { kind: 'error', code, json: JSON.stringify({ code, message }) };
    }
  }

  function notify(method: string, params: string | undefined): void {
    if (ofTheSession.test(method)) return;
    const value = params === undefined ? {} : (JSON.parse(params) as JsonObject);
    if (method === 'notifications/message' && !wantsLog(caller, value['level'])) return;
    const verdict = verdictOn(method, value);
    if (verdict.effect === 'pass') host.notify(method, params === undefined ? undefined : mask(params, verdict.redact));
  }

  return {
    get capabilities() {
      return capabilities();
    },
    info: host.info,
    ask,
    notify,
    masks: (categories) => categories.forEach((category) => masked.add(category)),
  };
}

/** Of an elicitation: what the person did. */
function actionOf(reply: UpstreamReply): JsonObject | undefined {
  if (reply.kind === 'error' || !isObject(reply.value)) return undefined;
  const { action } = reply.value;
  return action === 'accept' || action === 'decline' || action === 'cancel' ? { action } : undefined;
}
