// scopegate_inject_file: an agent has a secret put into a file it never sees. What a person decides on is the exact file, text and place.
// Shapes and words: gate contract, scopegate_inject_file.
import { z } from 'zod';
import { actorOf } from '../../../kernel/caller.ts';
import { AppError } from '../../../kernel/errors.ts';
import { defineOperation, type OperationContext } from '../../../kernel/operation.ts';
import type { Agents } from '../../agents/agents.ts';
import { noteOn } from '../../placements/model.ts';
import type { Placements } from '../../placements/placements.ts';
import type { Verdict } from '../../policy/model.ts';
import { refName, type Secret } from '../../vault/model.ts';
import type { Vault } from '../../vault/vault.ts';
import { admit, assertStillAdmitted, type OfferingDeps } from '../admission.ts';
import { adviceOn } from '../advice.ts';
import type { WaitingCall } from '../offer-approval.ts';

const input = z.strictObject({
  ref: z.string().regex(refName, 'expected the name of a secret').describe('The secret, as scopegate_vault_status lists it.'),
  out: z.string().min(1).max(4_096).describe('The absolute path of the file; its folder exists.'),
  template: z
    .string()
    .max(65_536)
    .optional()
    .describe('The text of the file, with {{secret}} where the value goes; default: the value.'),
  template_file: z
    .string()
    .min(1)
    .max(4_096)
    .optional()
    .describe('The absolute path of a file with that text; wins over template.'),
});
const output = z.looseObject({});
type Output = z.infer<typeof output>;

export interface InjectFileDeps extends OfferingDeps {
  readonly agents: Agents;
  readonly placements: Placements;
  readonly vault: Pick<Vault, 'state' | 'known' | 'values'>;
}

export function injectFile(deps: InjectFileDeps) {
  const { agents, placements, vault, policy } = deps;

  /** Waits while the vault is locked, so that nothing a person approved is used up in vain. */
  async function read(ref: string, context: OperationContext): Promise<Secret> {
    const { caller, signal, canProgress } = context;
    const agent = caller.kind === 'agent' ? { agent: caller.agent } : {};
    const onProgress = (seconds: number): void =>
      context.progress({ progress: seconds, message: 'Waiting for a human: scopegate vault unlock' });
    const [secret] = await vault.values([ref], { signal, ...agent, ...(canProgress && { onProgress }) });
    if (secret === undefined) throw new AppError('internal', 'vault.unknown_ref', `the vault gave nothing for '${ref}'`);
    return secret;
  }

  return defineOperation<z.infer<typeof input>, Output>({
    name: 'gateway.inject-file',
    summary: 'Materialize a vault secret into a file (for programs that read it nowhere else).',
    description:
      'A human has to approve exactly this file, text and place: answers `pending_human_approval`; relay the command, then call again with ' +
      'the SAME arguments. Written 0600 in one step, a file before is kept as `<out>.bak`. You never see the value.',
    input,
    output,
    effect: 'change',
    access: 'agent',
    tool: {
      toolset: 'gate',
      name: 'scopegate_inject_file',
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    },
    async run({ ref, out, template, template_file: templateFile }, context) {
      const { caller } = context;
      if (caller.kind !== 'agent') throw new AppError('denied', 'gateway.not_reachable', 'A person uses: sallyport inject');
      const capability = `vault:inject:${ref}`;
      const { agent } = caller;
      // Before anything is looked at: what a deny covers tells nobody which secrets and files there are.
      const atOnce = policy.decide({ agent, capability, args: {} });
      if (atOnce.effect === 'deny') return refusedByRule(atOnce);
      const plan = await placements.plan({ ref, out, template, templateFile });
      const verdict = policy.decide({ agent, capability, args: plan.shown });
      if (verdict.effect === 'deny') return refusedByRule(verdict);
      if (!vault.known(ref)) throw unknownRef(ref);
      if (vault.state() === 'locked') (await read(ref, context)).wipe();
      const subject = { capability, hash: undefined, annotations: {}, countless: true, exactUnless: 'vault:inject:' };
      try {
        const admission = await admit(deps, caller, subject, plan.shown, waitingCall(context));
        const secret = await read(ref, context);
        try {
          agents.assertActive(agent);
          // Reading may have waited for the vault: a deny of the meantime bites.
          assertStillAdmitted(policy, agent, subject, plan.shown, admission);
          const facts = { ...admission.standsOn, policy: admission.policy, rule: admission.rule };
          const placed = await placements.place(plan, secret, { actor: actorOf(caller), facts });
          return { materialized: true, out: placed.out, sha256: placed.sha256, note: noteOn(placed.out, placed.backedUp) };
        } finally {
          secret.wipe();
        }
      } catch (thrown) {
        if (!(thrown instanceof AppError)) throw thrown;
        if (thrown.code === 'approvals.pending') return pending(thrown);
        if (thrown.code === 'approvals.denied') return refusedByHuman(thrown);
        throw thrown;
      }
    },
  });
}

function waitingCall(context: OperationContext): WaitingCall {
  const { host, signal, canProgress } = context;
  const onProgress: WaitingCall['onProgress'] = ({ progress, message }) =>
    context.progress({ progress: Number(progress), ...(typeof message === 'string' && { message }) });
  return { signal, onProgress: canProgress ? onProgress : undefined, ...(host && { host }) };
}

function unknownRef(ref: string): AppError {
  const hint = `Ask the human to run in their terminal: scopegate secret add ${ref}`;
  return new AppError('not_found', 'vault.unknown_ref', `There is no secret '${ref}' in the vault.`, { hint });
}

function pending({ data }: AppError): Output {
  const id = String(data?.['approval_id']);
  return {
    granted: false,
    status: 'pending_human_approval',
    approval_id: id,
    approval_expires_at: data?.['approval_expires_at'],
    reason: data?.['reason'],
    instructions:
      `A human must approve this request. Ask them to run in their terminal: scopegate approve ${id} (or: scopegate deny ${id}). ` +
      'Once approved, call scopegate_inject_file again with the SAME arguments — do NOT retry with another place or text.',
    next_step: 'Ask the human to approve this action, or wait for approval.',
  };
}

function refusedByRule(verdict: Extract<Verdict, { effect: 'deny' }>): Output {
  const { code, reason } = verdict;
  return { granted: false, status: 'denied', code, reason, next_step: adviceOn(verdict) };
}

function refusedByHuman({ message, hint, retryAfterMs = 0 }: AppError): Output {
  const retry_after_s = Math.max(1, Math.ceil(retryAfterMs / 1_000));
  return { granted: false, status: 'denied', reason: message, retry_after_s, next_step: hint };
}
