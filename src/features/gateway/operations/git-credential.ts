// A token for git: an agent's git asks for one repository, and gets one for that repository alone, as long as the grant. Reached by the
// helper that git runs (`sallyport git-credential`), by no tool: what is answered goes to git and into no conversation.
import { z } from 'zod';
import { actorOf, type AgentCaller } from '../../../kernel/caller.ts';
import { AppError, asAppError } from '../../../kernel/errors.ts';
import { defineOperation, type OperationContext } from '../../../kernel/operation.ts';
import type { Clock } from '../../../kernel/ports.ts';
import type { Agents } from '../../agents/agents.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Git } from '../../git/git.ts';
import { capabilityOf, gitUsername } from '../../git/model.ts';
import { admit, assertStillAdmitted, refusedByPolicy, type OfferingDeps } from '../admission.ts';
import type { Admission } from '../model.ts';
import { outcomeOfError } from '../outcome.ts';

const text = z.string().max(4_096).optional();
/** What git says of what it wants. */
export const gitQuestion = z.strictObject({ protocol: text, host: text, path: text, username: text });
export type GitQuestion = z.infer<typeof gitQuestion>;

const credential = z.strictObject({
  username: z.string(),
  password: z.string(),
  password_expiry_utc: z.int().describe('Seconds since the epoch.'),
});

export interface GitCredentialDeps extends OfferingDeps {
  readonly agents: Agents;
  readonly audit: Pick<Audit, 'intent' | 'appendQuietly'>;
  readonly clock: Clock;
  readonly git: Git;
}

export function gitCredential(deps: GitCredentialDeps) {
  const { agents, audit, clock, git, grants, policy } = deps;

  /** What is left of the grant; where a person agreed to this once, what the rules give. */
  function ttlOf({ standsOn }: Admission, agent: string, byRule: number): number {
    const grant = 'grant' in standsOn ? grants.active(agent).find(({ id }) => id === standsOn.grant) : undefined;
    return grant === undefined ? byRule : grant.expiresAt - clock.now();
  }

  async function give(caller: AgentCaller, question: GitQuestion, { signal }: OperationContext) {
    const { agent } = caller;
    agents.assertActive(agent);
    const { entry, asked } = git.asked(question);
    const { access } = entry;
    const capability = capabilityOf(asked);
    const args = { host: asked.host, repository: `${asked.owner}/${asked.name}`, access };
    const verdict = policy.decide({ agent, capability, args });
    if (verdict.effect === 'deny') throw refusedByPolicy(capability, verdict);
    const subject = { capability, hash: undefined, annotations: {} };
    const admission = await admit(deps, caller, subject, args);
    const { standsOn, policy: version, rule } = admission;
    const intent = await audit.intent(
      {
        event: 'call.intent',
        actor: actorOf(caller),
        facts: { capability, ...standsOn, policy: version, rule, ref: entry.app.secretRef },
        sealed: { args: JSON.stringify(args) },
      },
      'synced',
    );
    try {
      const ttlMs = ttlOf(admission, agent, verdict.ttlMs);
      const assertStill = (): void => {
        agents.assertActive(agent);
        git.asked(question);
        assertStillAdmitted(policy, agent, subject, args, admission);
      };
      assertStill();
      const { token, expiresAt } = await git.give({ agent, entry, asked, ttlMs, shared: 'grant' in standsOn, signal, assertStill });
      intent.close('ok', { until: new Date(expiresAt).toISOString() });
      return { username: gitUsername, password: token, password_expiry_utc: Math.floor(expiresAt / 1_000) };
    } catch (thrown) {
      const error = asAppError(thrown);
      intent.close(outcomeOfError(error), { code: error.code });
      throw error;
    }
  }

  return defineOperation<GitQuestion, z.infer<typeof credential>>({
    name: 'gateway.git-credential',
    summary: 'Give git a token for one repository, as long as the grant.',
    input: gitQuestion,
    output: credential,
    effect: 'change',
    access: 'agent',
    async run(question, context) {
      const caller = agentIn(context);
      try {
        return await give(caller, question, context);
      } catch (thrown) {
        const error = asAppError(thrown);
        if (error.kind === 'denied' || error.kind === 'limited' || error.code.startsWith('git.')) {
          const facts = {
            code: error.code,
            ...(typeof error.data?.['approval_id'] === 'string' ? { approval: error.data['approval_id'] } : {}),
          };
          audit.appendQuietly({ event: 'call.refused', actor: actorOf(caller), facts, sealed: { git: JSON.stringify(question) } });
        }
        throw error;
      }
    },
  });
}

export function agentIn({ caller }: OperationContext): AgentCaller {
  if (caller.kind === 'agent') return caller;
  throw new AppError('denied', 'gateway.not_reachable', 'Only the git of an agent asks for a token.');
}
