// scopegate_register_upstream: an agent proposes an upstream, a person decides. A new upstream is a widening, so no rule lets it in
// (DESIGN invariant 4): a deny refuses, everything else asks. Shapes and words: gate contract, scopegate_register_upstream.
import { z } from 'zod';
import { actorOf } from '../../../kernel/caller.ts';
import { AppError } from '../../../kernel/errors.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import type { Approval } from '../../approvals/model.ts';
import type { Registration } from '../../registration/registration.ts';
import type { Proposal } from '../../registration/model.ts';
import type { Verdict } from '../../policy/model.ts';
import { adviceOn } from '../advice.ts';
import { humanDenialShape, pendingShape, type RequestDeps } from '../capability-request.ts';

export interface RegisterDeps extends Pick<RequestDeps, 'policy' | 'approvals' | 'agents' | 'audit' | 'rate'> {
  readonly registration: Registration;
}

const transport = {
  description: 'How it is reached: {kind: "http", url} or {kind: "stdio", command, args?}.',
  type: 'object',
  properties: {
    kind: { type: 'string', enum: ['http', 'stdio'] },
    url: { type: 'string', description: 'kind http: the https URL of an MCP endpoint.' },
    command: { type: 'string', description: 'kind stdio: the program to start.' },
    args: { type: 'array', items: { type: 'string' } },
  },
  required: ['kind'],
  additionalProperties: false,
};

const auth = {
  description:
    'How it is logged in to: {type: "none"}, {type: "bearer", secretRef, header?, scheme?}, {type: "oauth2", secretRef} or ' +
    '{type: "env", env: {VARIABLE: "secret_name"}}. Names of secrets only, never a value.',
  type: 'object',
  properties: {
    type: { type: 'string', enum: ['none', 'bearer', 'oauth2', 'env'] },
    secretRef: { type: 'string', description: 'The NAME of a secret.' },
    header: { type: 'string' },
    scheme: { type: 'string' },
    env: { type: 'object', additionalProperties: { type: 'string' } },
  },
  required: ['type'],
  additionalProperties: false,
};

/** Read by the registration itself, whose sentences are the contract's. */
const input = z.strictObject({
  from_registry: z
    .unknown()
    .optional()
    .meta({ type: 'string', description: 'An entry of the verified catalogue, given alone; it says everything else.' }),
  name: z.unknown().optional().meta({ type: 'string', description: 'The name its tools get: <name>__<tool>.' }),
  transport: z.unknown().optional().meta(transport),
  auth: z.unknown().optional().meta(auth),
});
type Input = z.infer<typeof input>;

type Shape = Record<string, unknown>;
const output = z.looseObject({});

export function registerUpstream(deps: RegisterDeps) {
  const { policy, approvals, agents, audit, rate, registration } = deps;

  async function ask(agent: string, { capability, args }: Proposal, verdict: Exclude<Verdict, { effect: 'deny' }>): Promise<Shape> {
    const { rule, ttlMs } = verdict;
    const question = { agent, origin: 'registration' as const, capability, rule, reason: '', args, ttlMs, guards: [] };
    try {
      const approval = await approvals.ask(question, () => rate.take(agent, policy.limits(agent).rate));
      return pending(approval, reasonOf(capability, verdict));
    } catch (thrown) {
      if (!(thrown instanceof AppError && thrown.code === 'approvals.denied')) throw thrown;
      const { approval_id: id, reason } = thrown.data ?? {};
      const denial = {
        kind: 'denied_by_human' as const,
        id: String(id),
        reason: String(reason),
        retryAfterMs: thrown.retryAfterMs ?? 0,
      };
      return { ...humanDenialShape(denial), next_step: 'Do not propose it again; choose another way or talk to the human.' };
    }
  }

  return defineOperation<Input, Shape>({
    name: 'gateway.register-upstream',
    summary: 'Propose a new upstream MCP server; a human decides before anything of it runs.',
    description:
      'Pass EITHER `from_registry` alone (an entry of the verified catalogue) OR `name`, `transport` and `auth`. NEVER pass a secret value, ' +
      'only the NAME of a secret (see scopegate_vault_status). Answers `pending_human_approval`: relay the exact command to the human, then ' +
      'call again with the SAME arguments. Proposing a name that exists proposes to replace it.',
    input,
    output,
    effect: 'change',
    access: 'agent',
    tool: { toolset: 'gate', name: 'scopegate_register_upstream', annotations: { readOnlyHint: false, destructiveHint: false } },
    async run(given, { caller, signal }) {
      if (caller.kind !== 'agent') throw new AppError('denied', 'gateway.not_reachable', 'Only an agent proposes upstreams.');
      const { agent } = caller;
      agents.assertActive(agent);
      const proposal = await registration.propose(given);
      const { capability, args } = proposal;
      const verdict = policy.decide({ agent, capability, args });
      if (verdict.effect === 'deny') {
        audit.append({ event: 'capability.denied', actor: actorOf(caller), facts: { code: verdict.code }, sealed: { capability } });
        return { granted: false, code: verdict.code, reason: verdict.reason, next_step: adviceOn(verdict) };
      }
      return (await registration.standing(proposal, signal)) ?? ask(agent, proposal, verdict);
    },
  });
}

function reasonOf(capability: string, { effect, rule, reason }: Exclude<Verdict, { effect: 'deny' }>): string {
  if (effect === 'ask') return reason;
  return `Capability '${capability}' is allowed by '${rule}', and a new upstream requires human approval all the same.`;
}

function pending(approval: Approval, reason: string): Shape {
  const { id } = approval;
  return {
    ...pendingShape(approval),
    reason,
    instructions:
      `A human must approve this registration. Ask them to run in their terminal: scopegate approve ${id} (or: scopegate deny ${id}). ` +
      'Nothing of it runs before. Once approved, call scopegate_register_upstream again with the SAME arguments.',
    next_step: 'Ask the human to approve this registration, or wait for approval.',
  };
}
