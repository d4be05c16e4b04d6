// The vault's nouns: references, values, slots, states. Pure; the command line imports it to ask before anything is sent.
import type { JsonObject } from '../../kernel/json.ts';

/**
 * `gate`: references an agent may know by name, such as `github_token`. `credentials`: items of people, whose names are sealed as well.
 * `logins`: what the gateway got by logging in somewhere and renews by itself; nothing a person put there can be overwritten that way.
 * A value of one is never found under a name of another.
 */
export type Namespace = 'gate' | 'credentials' | 'logins';

export const refName = /^[a-z0-9_][a-z0-9_.:-]{0,127}$/;
export const refNameHelp = 'lower-case letters, digits, "_", ".", ":" and "-", at most 128, starting with a letter, a digit or "_"';

export const maxValueBytes = 65_536;

/** Bytes. A value is padded up to its class, so that neither a row nor a statement tells how long it is. */
export const sizeClasses = [64, 256, 1_024, 4_096, 16_384, 65_536] as const;
export type SizeClass = (typeof sizeClasses)[number];

/** What opens the vault. The first three are kept by the machine, the last two by a person. */
export const slotKinds = ['key_file', 'systemd', 'keychain', 'passphrase', 'recovery'] as const;
export type SlotKind = (typeof slotKinds)[number];

/** In the order in which they are tried at a start: the quick ones first. */
export const startKinds = ['key_file', 'systemd', 'keychain'] as const;
export type StartKind = (typeof startKinds)[number];

export function isStartKind(kind: SlotKind): kind is StartKind {
  return (startKinds as readonly SlotKind[]).includes(kind);
}

export const slotWords: Readonly<Record<SlotKind, string>> = {
  key_file: 'the file keys/vault.key of the home',
  systemd: 'a credential that systemd hands to the daemon',
  keychain: 'the keychain of this user',
  passphrase: 'a passphrase',
  recovery: 'the recovery code',
};

/** Bounds a stolen list of slots, and the work of a new key. */
export const mostSlots = 8;
export const mostRefs = 1_000;

/** How long the value before a change stays for redaction, in milliseconds. */
export const previousLifeMs = 24 * 3_600_000;

/** `damaged`: the rows are not those that were sealed; nothing is taken from them (DESIGN invariant 9). */
export type VaultState = 'absent' | 'locked' | 'open' | 'damaged';

/** A reference as everybody may see it. */
export interface RefFacts {
  readonly ref: string;
  /** 1 for the first value, one more with each rotation. */
  readonly version: number;
  readonly changedAt: string;
  /** Until when the value before this one is still masked in results. */
  readonly previousUntil?: string;
}

export interface SlotFacts {
  readonly id: string;
  readonly kind: SlotKind;
  readonly label: string;
  readonly createdAt: string;
  /** Public: how the secret of the slot is made from what a person types. */
  readonly params: string;
}

/** A value for whoever injects it. Bytes of UTF-8; `wipe` zeroes this copy. */
export interface Secret {
  readonly ref: string;
  readonly version: number;
  readonly value: Uint8Array;
  wipe(): void;
}

/** Who changes the vault, for the record. */
export interface Decision {
  readonly actor: string;
  readonly proof?: JsonObject;
}

export type VaultErrorCode =
  | 'vault.absent' // no vault yet
  | 'vault.exists'
  | 'vault.locked' // nobody has opened it since the start
  | 'vault.damaged' // the rows are not those that were sealed
  | 'vault.busy' // too many wait for it to be opened
  | 'vault.wrong_key' // this does not open this slot
  | 'vault.unknown_ref'
  | 'vault.ref_exists'
  | 'vault.bad_value'
  | 'vault.too_many'
  | 'vault.start_key' // a place of the machine cannot be asked, or has no secret
  | 'vault.unknown_slot'
  | 'vault.slot_exists'
  | 'vault.last_slot'
  | 'vault.weak_slot' // derivation parameters below the floor
  | 'vault.bad_code'; // what was typed is no recovery code
