// Which failure is told how in the gate toolset: an exhaustive table from error code to the words of the gate contract ("Response
// conventions"). Typed codes decide, never prose: a new code does not compile until it has a row here.
import type { AppError, ErrorKind } from '../../kernel/errors.ts';
import type { AgentErrorCode } from '../../features/agents/model.ts';
import type { ApprovalErrorCode } from '../../features/approvals/model.ts';
import type { AuditErrorCode } from '../../features/audit/model.ts';
import type { DefenceErrorCode } from '../../features/defences/model.ts';
import type { AuthErrorCode } from '../../features/auth/model.ts';
import type { FleetErrorCode } from '../../features/fleet/model.ts';
import type { GatewayErrorCode } from '../../features/gateway/model.ts';
import type { GrantErrorCode } from '../../features/grants/model.ts';
import type { DenyCode, PolicyErrorCode } from '../../features/policy/model.ts';
import type { PlacementErrorCode } from '../../features/placements/model.ts';
import type { RegistrationErrorCode } from '../../features/registration/model.ts';
import type { RegistryErrorCode } from '../../features/registry/model.ts';
import type { VaultErrorCode } from '../../features/vault/model.ts';

export type EnvelopeKind = 'expired_grant' | 'missing_scope' | 'policy_denied' | 'rate_limited' | 'upstream_down' | 'auth_broken';
export type NextAction = 'renew' | 'request_capability' | 'wait' | 'diagnose' | 'human';

/** `step` is the instruction used when the error brings no hint of its own. */
export interface Envelope {
  readonly kind: EnvelopeKind;
  readonly next: NextAction;
  readonly step: string;
}

/** `misuse`: the caller can fix the call, told as `ERROR: …`. `hidden`: the message is the operator's, an envelope without it. */
export type Drawing = Envelope | 'misuse' | 'hidden';

type DrawnCode =
  | AgentErrorCode
  | ApprovalErrorCode
  | AuditErrorCode
  | AuthErrorCode
  | DefenceErrorCode
  | FleetErrorCode
  | GatewayErrorCode
  | GrantErrorCode
  | PlacementErrorCode
  | PolicyErrorCode
  | RegistrationErrorCode
  | RegistryErrorCode
  | VaultErrorCode;

function human(step: string): Envelope {
  return { kind: 'policy_denied', next: 'human', step };
}

function down(next: 'wait' | 'diagnose', step: string): Envelope {
  return { kind: 'upstream_down', next, step };
}

const limited: Envelope = { kind: 'rate_limited', next: 'wait', step: 'Wait, then make the same call again.' };
const askFirst: Envelope = {
  kind: 'missing_scope',
  next: 'request_capability',
  step: 'Call scopegate_request_capability with exactly this capability and a reason.',
};
const diagnose = down('diagnose', 'Call scopegate_diagnose and tell the human what it says.');
const resting = down('wait', 'Wait as long as retry_after_s says, or a moment, then make the same call again.');
const outcomeUnknown = down(
  'diagnose',
  'The call may have taken effect: check that before you repeat it, then call scopegate_diagnose.',
);
const stopped = human('Stop: nothing will run for you until a human has looked at it. Tell the human.');
const recordDown = human('Nothing is done that cannot be recorded. Tell the human that the audit log is unavailable.');

const vaultLocked: Envelope = { kind: 'auth_broken', next: 'human', step: 'Ask the human to run: sallyport vault unlock' };
const loginNeeded: Envelope = {
  kind: 'auth_broken',
  next: 'human',
  step: 'Tell the human that this upstream needs a login; nothing you can do will mend it.',
};
const secretMissing: Envelope = { kind: 'auth_broken', next: 'human', step: 'Ask the human to run: sallyport secret add <ref>' };

/** Shown in place of a message that is not for the agent. */
export const hidden: Envelope = human('Tell the human; the log of the gateway says what happened.');

const drawings: Readonly<Record<DrawnCode, Drawing>> = {
  'gateway.misuse': 'misuse',
  'gateway.unknown_tool': 'misuse',
  'gateway.unknown_prompt': 'misuse',
  'gateway.unknown_resource': 'misuse',
  'gateway.unknown_method': 'misuse',
  'gateway.bad_uri': 'misuse',
  'gateway.not_followable': human('Read the resource instead.'),
  'gateway.unknown_task': 'misuse',
  'gateway.too_many_tasks': { ...limited, step: 'Wait for some of its tasks, or cancel them.' },
  'gateway.task_id_taken': outcomeUnknown,
  'gateway.too_many_followed': { ...limited, step: 'Unsubscribe from some resources first.' },
  'gateway.unknown_operation': 'misuse',
  'gateway.other_secret': 'hidden',
  'gateway.rate_limited': limited,
  'gateway.not_answered': diagnose,
  'gateway.not_reachable': human('Ask the human to do this.'),

  'policy.denied': human('Do not try it in another form. Tell the human what you need and why.'),
  'policy.bad_capability': 'misuse',
  'policy.bad_ttl': 'misuse',
  'policy.invalid': human('Tell the human that the policy file cannot be used.'),
  'policy.missing': human('Tell the human that there is no policy file.'),
  'policy.locked': human('Tell the human that the policy is locked and has to be looked at.'),
  'policy.unchanged': 'misuse',
  'policy.changed': 'misuse',
  'policy.edited': 'misuse',
  'policy.not_editable': 'misuse',
  'policy.bad_proposal': 'misuse',
  'policy.too_many_proposals': { ...limited, step: 'Wait until a human has decided some of them.' },
  'policy.no_proposal': 'misuse',
  'policy.not_pending': 'misuse',

  'approvals.pending': { ...askFirst, step: 'Ask the human to approve it, then make the same call again with the same arguments.' },
  'approvals.denied': human('A human said no. Do not repeat it; go on without it, or tell the human why it is needed.'),
  'approvals.too_many': { ...limited, step: 'Wait until a human has decided the approvals that are open.' },
  'approvals.expired': { ...askFirst, step: 'The approval expired undecided. Ask for it again when a human is there.' },
  'approvals.not_found': 'misuse',
  'approvals.not_pending': 'misuse',
  'approvals.bad_ttl': 'misuse',
  'approvals.unproved': 'hidden',
  'approvals.no_deed': 'hidden',
  'approvals.locked': human('Tell the human that stored approvals cannot be read.'),

  'grants.locked': human('Tell the human that stored grants cannot be read.'),
  'grants.not_an_agent': 'misuse',

  'agents.suspended': stopped,
  'agents.revoked': stopped,
  'agents.locked': stopped,
  'agents.not_found': stopped,
  'agents.exists': 'misuse',
  'agents.bad_name': 'misuse',
  'agents.not_suspended': 'misuse',

  'fleet.start_failed': diagnose,
  'fleet.down': resting,
  'fleet.overloaded': limited,
  'fleet.circuit_open': resting,
  'fleet.exited': outcomeUnknown,
  'fleet.failed': outcomeUnknown,
  'fleet.unreachable': resting,
  'fleet.refused': diagnose,
  'fleet.session_lost': resting,
  'fleet.auth_broken': {
    kind: 'auth_broken',
    next: 'human',
    step: 'Tell the human that this upstream needs a login; nothing you can do will mend it.',
  },
  'fleet.input_required': diagnose,
  'fleet.timeout': outcomeUnknown,
  'fleet.cancelled': outcomeUnknown,
  'fleet.protocol': outcomeUnknown,
  'fleet.quarantined': human('Ask the human to run: sallyport tools review'),
  'fleet.unaccepted': human('Ask the human to accept this upstream with: sallyport upstream add'),
  'fleet.not_found': 'misuse',
  'fleet.exists': 'misuse',
  'fleet.bad_spec': 'misuse',
  'fleet.bad_settings': 'hidden',
  'fleet.changed': 'misuse',

  'registration.bad_proposal': 'misuse',
  'registration.unsafe_url': 'misuse',
  'registration.unverified': 'misuse',
  'registration.changed': 'misuse',
  'registry.unverified': 'hidden',
  'registry.no_source': 'misuse',
  'registry.unreachable': 'hidden',
  'registry.not_newer': 'hidden',

  'auth.waiting_for_secret': secretMissing,
  'auth.unfit_value': loginNeeded,
  'auth.refused': loginNeeded,
  'auth.needs_reauth': loginNeeded,
  'auth.unsupported': loginNeeded,
  'auth.unbound': resting,
  'auth.unreachable': resting,
  'auth.no_login': 'misuse',
  'auth.other_login': 'misuse',
  'auth.ref_taken': 'misuse',

  'vault.locked': vaultLocked,
  'vault.busy': vaultLocked,
  'vault.absent': secretMissing,
  'vault.unknown_ref': secretMissing,
  'vault.damaged': human('Tell the human that the vault cannot be read.'),
  'vault.exists': 'misuse',
  'vault.ref_exists': 'misuse',
  'vault.bad_value': 'misuse',
  'vault.bad_code': 'misuse',
  'vault.too_many': 'misuse',
  'vault.wrong_key': 'hidden',
  'vault.start_key': 'hidden',
  'vault.unknown_slot': 'hidden',
  'vault.slot_exists': 'hidden',
  'vault.last_slot': 'hidden',
  'vault.weak_slot': 'hidden',

  'placements.bad_place': 'misuse',
  'placements.not_allowed': human('Ask the human to allow the place with: sallyport inject allow'),
  'placements.unsafe_place': human('Choose another place, or tell the human.'),
  'placements.bad_template': 'misuse',
  'placements.changed': 'misuse',
  'placements.failed': human('Tell the human that the file cannot be written.'),
  'placements.unrecorded': 'misuse',
  'placements.bad_destination': 'misuse',
  'placements.unknown_destination': 'misuse',

  'defences.honeytoken': 'misuse',
  'defences.locked': stopped,
  'defences.unknown_decoy': 'misuse',
  'defences.bad_decoy': 'misuse',
  'defences.too_many': 'misuse',
  'defences.not_tainted': 'misuse',

  'audit.unavailable': recordDown,
  'audit.locked': recordDown,
  'audit.not_found': 'misuse',
  'audit.bad_entry': 'hidden',
  'audit.bad_path': 'misuse',
};

/** For codes of floors below the slices. What is broken inside is never told to an agent. */
const byKind: Readonly<Record<ErrorKind, Drawing>> = {
  invalid: 'misuse',
  not_found: 'misuse',
  conflict: 'misuse',
  limited,
  denied: human('Ask the human.'),
  unauthenticated: human('Ask the human.'),
  unavailable: 'hidden',
  internal: 'hidden',
};

/** What no rule speaks about can be asked for; every other denial is final until a person changes something. */
const requestable: DenyCode = 'no_rule';

export function drawingOf(error: AppError): Drawing {
  if (error.kind === 'internal') return 'hidden';
  if (error.code === 'policy.denied' && error.data?.['deny'] === requestable) return askFirst;
  const drawing = Object.hasOwn(drawings, error.code) ? drawings[error.code as DrawnCode] : byKind[error.kind];
  // The connection knows that nothing left for the upstream, so nothing can have happened there.
  return drawing === outcomeUnknown && error.data?.['sent'] === false ? resting : drawing;
}
