// May an upstream ask this client back, or tell it that? Policy first, then what the client said it can be asked. Asks nobody.
import type { AgentCaller } from '../../kernel/caller.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Grants } from '../grants/grants.ts';
import type { RedactCategory } from '../policy/model.ts';
import type { Policy } from '../policy/policy.ts';
import { heldGrant } from './held-grant.ts';

export interface AskDeps {
  readonly policy: Policy;
  readonly grants: Grants;
}

export type AskVerdict =
  | { readonly effect: 'pass'; readonly rule: string | undefined; readonly redact: readonly RedactCategory[] }
  /** `code` is of JSON-RPC, for the upstream. */
  | { readonly effect: 'refuse'; readonly code: number; readonly message: string };

/** What the protocol itself lets servers send; the call that they belong to was let pass, so silence is consent here. */
const known: ReadonlySet<string> = new Set([
  'sampling/createMessage',
  'elicitation/create',
  'roots/list',
  'notifications/message',
  'notifications/elicitation/complete',
]);

export function isKnown(method: string): boolean {
  return known.has(method);
}

export function methodCapability(upstream: string, method: string): string {
  return `${upstream}:method:${method}`;
}

/**
 * A method of the protocol passes unless a rule says otherwise, any other only by a rule. Where a rule asks a person, a grant that a
 * person gave is needed: the upstream waits for an answer, and nobody decides in its time. Without `params` it is asked whether this could
 * ever pass.
 */
export function policyOnAsk(
  { policy, grants }: AskDeps,
  { agent }: AgentCaller,
  upstream: string,
  method: string,
  params: JsonObject | undefined,
): AskVerdict {
  const capability = methodCapability(upstream, method);
  const verdict = policy.decide({ agent, capability, ...(params === undefined ? {} : { args: params }) });
  if (verdict.effect === 'deny') {
    if (verdict.code === 'no_rule' && known.has(method)) return { effect: 'pass', rule: undefined, redact: [] };
    return notFound(method);
  }
  const { rule, redact } = verdict;
  const pass: AskVerdict = { effect: 'pass', rule, redact };
  if (verdict.effect === 'allow' || params === undefined) return pass;
  if (heldGrant(grants, agent, capability, verdict, params) !== undefined) return pass;
  return {
    effect: 'refuse',
    code: -32601,
    message: `A human has to agree before ${method} is asked. The agent can ask for the capability '${capability}' and try again.`,
  };
}

/** As a client itself would refuse what it never declared; `undefined` where it can be asked. `shown` is what the upstream was told. */
export function beyondClient(method: string, params: JsonObject, shown: JsonObject): AskVerdict | undefined {
  if (method === 'roots/list') return shown['roots'] === undefined ? undeclared(method) : undefined;
  if (method !== 'sampling/createMessage' && method !== 'elicitation/create') return undefined;
  const capability = shown[method === 'elicitation/create' ? 'elicitation' : 'sampling'];
  if (!isObject(capability)) return undeclared(method);
  if (params['task'] !== undefined && shown['tasks'] === undefined) return invalid(`The client runs no tasks.`);
  if (method === 'sampling/createMessage') {
    const usesTools = params['tools'] !== undefined || params['toolChoice'] !== undefined;
    return usesTools && capability['tools'] === undefined ? invalid('The client samples without tools.') : undefined;
  }
  const { mode = 'form' } = params;
  if (typeof mode === 'string' && elicits(capability, mode)) return undefined;
  return invalid(`The client takes no elicitation of the mode ${JSON.stringify(mode).slice(0, 64)}.`);
}

/** Spec 2025-11-25, client/elicitation: a capability without any mode means `form`. */
export function elicits(capability: JsonObject, mode: string): boolean {
  if (mode === 'form') return capability['form'] !== undefined || capability['url'] === undefined;
  return mode === 'url' && capability['url'] !== undefined;
}

function notFound(method: string): AskVerdict {
  return { effect: 'refuse', code: -32601, message: `Method not found: ${method.slice(0, 64)}` };
}

/** Nobody told the upstream that it may ask this. */
function undeclared(method: string): AskVerdict {
  return { effect: 'refuse', code: -32601, message: `Method not found: ${method} (the client did not declare it)` };
}

function invalid(message: string): AskVerdict {
  return { effect: 'refuse', code: -32602, message };
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
