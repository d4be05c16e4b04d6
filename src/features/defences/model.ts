// What watches agents beside the policy: decoys (honeytokens), taint after suspicious results, and which tools count as writes. Nouns, pure.

export const decoyKinds = ['generic', 'github', 'aws'] as const;
export type DecoyKind = (typeof decoyKinds)[number];
export const mostDecoys = 64;

/** A secret nobody has a use for: whoever names or uses it has been where it should not be. */
export interface Decoy {
  readonly ref: string;
  readonly value: string;
  readonly kind: DecoyKind;
  /** For whom, and to look like whose, it was laid out: for the operator's own list. */
  readonly agent: string | undefined;
  readonly upstream: string | undefined;
  readonly plantedAt: string;
}

/** `enforce`: the agent is suspended at once. `alert`: the call is refused and recorded, no more. */
export const decoyModes = ['enforce', 'alert'] as const;
export type DecoyMode = (typeof decoyModes)[number];

/** `alert`: recorded. `enforce`: writes to other upstreams ask a person as well. */
export const taintModes = ['off', 'alert', 'enforce'] as const;
export type TaintMode = (typeof taintModes)[number];

/** What an agent read, and until when that counts, in milliseconds since the Unix epoch. */
export interface TaintMark {
  readonly agent: string;
  readonly upstream: string;
  /** Name of the pattern. */
  readonly pattern: string;
  readonly until: number;
}

export interface Modes {
  readonly honeytokens: DecoyMode;
  readonly taint: TaintMode;
}
export const usualModes: Modes = { honeytokens: 'enforce', taint: 'alert' };

/** What a tool does to the world, as far as records, leases and taint are concerned; what is not known to read writes. */
export const sideEffects = ['read', 'write'] as const;
export type SideEffect = (typeof sideEffects)[number];
export const mostEffects = 4_096;

/** How an agent came upon a decoy. */
export type Vector = 'mention' | 'arguments' | 'secret_read';

export interface Trigger {
  /** `undefined`: an upstream's login read it, for nobody in particular. */
  readonly agent: string | undefined;
  readonly ref: string;
  readonly vector: Vector;
  /** The tool or method, as the agent named it. */
  readonly through: string;
}

export type DefenceErrorCode =
  | 'defences.honeytoken' // an agent named or used a decoy
  | 'defences.locked' // what is stored about decoys cannot be read
  | 'defences.unknown_decoy'
  | 'defences.bad_decoy'
  | 'defences.too_many'
  | 'defences.not_tainted';
