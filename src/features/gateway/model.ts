// The codes the gateway itself refuses with, and the facts it passes between its steps.
import type { RedactCategory } from '../policy/model.ts';

export type GatewayErrorCode =
  | 'gateway.misuse' // arguments of an own tool, or a capability that is none
  | 'gateway.unknown_tool'
  | 'gateway.unknown_operation'
  | 'gateway.rate_limited'
  | 'gateway.not_reachable'; // an operation this kind of caller never reaches

/** What lets one call pass, as it goes on the record. */
export interface Admission {
  /** The version of the policy that decided. */
  readonly policy: string;
  readonly rule: string;
  readonly redact: readonly RedactCategory[];
  /** A person agreed: the grant or approval is one a person gave. */
  readonly byPerson: boolean;
  /** The grant or the approval the call stands on. */
  readonly standsOn: { readonly grant: string } | { readonly approval: string };
}
