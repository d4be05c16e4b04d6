// The nouns of registration: what an agent proposes, and what it is told of it. Pure.
import type { JsonObject } from '../../kernel/json.ts';
import type { UpstreamSpec } from '../fleet/model.ts';

/** An upstream as an agent proposes it, read to the end: nothing in it is left to be found out but what only the outside knows. */
export interface Proposal {
  /** `sallyport:register:<name>`. */
  readonly capability: string;
  readonly spec: UpstreamSpec;
  /** Of the signed catalogue; absent for one the agent wrote itself. */
  readonly entry?: CatalogueEntry;
  /** What the approval is about, word for word, and what makes two proposals the same. */
  readonly args: JsonObject;
}

/** As far as registration is concerned. */
export interface CatalogueEntry {
  readonly name: string;
  /** Of the catalogue it stands in. */
  readonly version: number;
  /** Hex SHA-256 of the manifest's file. */
  readonly sha256: string;
  readonly description: string;
  readonly transport:
    | { readonly kind: 'http'; readonly url: string; readonly addresses: 'public' }
    | { readonly kind: 'stdio'; readonly command: string; readonly args: readonly string[] };
  readonly auth: JsonObject;
  readonly exposeTools: readonly string[];
  /** By ref. */
  readonly hints: Readonly<Record<string, string>>;
}

/** Gate contract, scopegate_register_upstream: the two responses after a person agreed. */
export type Registered =
  | { readonly registered: string; readonly connection: { readonly ok: boolean; readonly tools?: number; readonly error?: string } }
  | {
      readonly registered: string;
      readonly status: 'waiting_for_secrets';
      readonly from_registry?: string;
      readonly setup_hints?: Readonly<Record<string, string>>;
      readonly action_required: string;
    };

export type RegistrationErrorCode =
  | 'registration.bad_proposal' // in the words of the contract
  | 'registration.unsafe_url'
  | 'registration.unverified' // the entry of the catalogue
  | 'registration.changed'; // what is there now is not what was proposed to be replaced
