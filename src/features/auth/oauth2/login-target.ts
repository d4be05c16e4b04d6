// What a login is made for, as the accepted entry and an earlier login have it. Types only.

/** What the accepted entry says, and what is known of an earlier login. */
export interface LoginTarget {
  readonly upstream: string;
  /** Absent for a program that is started here; then `issuer` has to be written. */
  readonly url?: string;
  readonly issuer?: string;
  readonly clientId?: string;
  readonly clientMetadataUrl?: string;
  /** As the operator wrote them. */
  readonly scopes?: readonly string[];
  /** Of the login there is. */
  readonly granted: readonly string[];
  /** That the upstream missed when it turned a call away (403 insufficient_scope). */
  readonly missed: readonly string[];
}
