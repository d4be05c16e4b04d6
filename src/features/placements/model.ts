// A placement: a secret put into a file outside the home, because a program reads it nowhere else. Nouns and codes; pure.
import type { JsonObject } from '../../kernel/json.ts';

/** What a template says where the value goes. */
export const placeholder = '{{secret}}';
export const mostPlaceholders = 16;
/** UTF-8. A template is a config file; what is larger is something else. */
export const mostTemplateBytes = 65_536;
/** Of a file that is replaced: what is larger is not copied aside, and so not replaced. */
export const mostReplacedBytes = 1 << 20;
export const mostDestinations = 256;

/** What is put beside the file itself; nothing may be placed under these names. */
export const backupEnding = '.bak';
export const sidecarEnding = '.scopegate.json';

/** A wish to place a secret, as an agent or a person words it. */
export interface Wish {
  readonly ref: string;
  /** Absolute and plain. */
  readonly out: string;
  /** Default: the value alone. */
  readonly template?: string | undefined;
  /** A file the daemon reads once, when it is asked; wins over `template`. */
  readonly templateFile?: string | undefined;
}

/** What will be done, computed from state now. `shown` is what a person decides on, and what an approval is bound to. */
export interface Plan {
  readonly ref: string;
  readonly out: string;
  readonly template: string;
  readonly templateFile: string | undefined;
  /** Hex SHA-256 of the file that is there now; `undefined`: there is none. */
  readonly replaces: string | undefined;
  readonly shown: JsonObject;
}

/** What was done, as the database remembers it. */
export interface Placement {
  readonly out: string;
  readonly ref: string;
  /** Of the secret. */
  readonly version: number;
  /** The text itself; `undefined` where it is read from `templateFile`. */
  readonly template: string | undefined;
  readonly templateFile: string | undefined;
  /** base64url of HMAC-SHA-256(salt, content): without the salt nobody can try out values against it. */
  readonly digest: string;
  readonly salt: string;
  readonly placedAt: string;
}

/** Who decided, for the record: a grant or approval of an agent's call, or the facts of an operator's proof. */
export interface Standing {
  readonly actor: string;
  readonly facts: JsonObject;
}

export interface Placed {
  readonly out: string;
  /** Hex SHA-256 of the content, as the gate contract answers it. */
  readonly sha256: string;
  readonly backedUp: boolean;
}

/** The sentence of the gate contract, scopegate_inject_file. */
export function noteOn(out: string, backedUp: boolean): string {
  const before = backedUp ? ` (previous file backed up to ${out}${backupEnding})` : '';
  return `Written 0600${before}. Re-run after rotation with: scopegate inject --refresh ${out}.`;
}

export type PlacementErrorCode =
  | 'placements.bad_place' // no plain absolute path, or a name of ours
  | 'placements.not_allowed' // no destination the operator allowed
  | 'placements.unsafe_place' // a link, somebody else's folder, the home, no plain file
  | 'placements.bad_template'
  | 'placements.changed' // the file at the place is another one than was shown
  | 'placements.failed'
  | 'placements.unrecorded' // nothing of ours is known there, or its sidecar says something else
  | 'placements.bad_destination'
  | 'placements.unknown_destination';
