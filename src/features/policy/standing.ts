// What is in force, and how the file on disk compares to it. Says in one sentence why everything is denied when it is.
import type { Engine } from './decide.ts';
import type { Finding, PolicyFile } from './document.ts';
import type { Adoption } from './store.ts';

/** The last good text, read and compiled. */
export interface Adopted {
  readonly text: string;
  readonly version: string;
  readonly how: Adoption;
  readonly adoptedAt: string;
  readonly file: PolicyFile;
  readonly engine: Engine;
}

export type Ground =
  /** No text was ever adopted. */
  | { readonly kind: 'none' }
  /** What was adopted cannot be trusted or read. */
  | { readonly kind: 'locked'; readonly reason: string }
  | { readonly kind: 'adopted'; readonly adopted: Adopted };

export type Disk =
  | { readonly state: 'in_force' }
  /** Wider than what is in force: needs the operator. */
  | { readonly state: 'waiting'; readonly version: string; readonly changes: readonly string[] }
  | { readonly state: 'invalid'; readonly version: string; readonly findings: readonly Finding[] }
  | { readonly state: 'missing' }
  | { readonly state: 'unreadable'; readonly reason: string };

export interface Standing {
  readonly ground: Ground;
  /** Meaningful once something was adopted. */
  readonly disk: Disk;
  /** The first text is adopted with the operator's creation; where that failed, only a signature brings one into force. */
  readonly hasOperator: boolean;
}

/** The engine that decides, or why nothing may pass. */
export type Opening =
  | { readonly open: true; readonly adopted: Adopted }
  | { readonly open: false; readonly code: 'no_policy' | 'config_error'; readonly reason: string };

const adopt = 'sallyport policies adopt';

export function openingOf({ ground, disk, hasOperator }: Standing): Opening {
  const closed = (code: 'no_policy' | 'config_error', reason: string): Opening => ({ open: false, code, reason });
  if (ground.kind === 'none') {
    return closed(
      'no_policy',
      hasOperator
        ? `No policy was ever adopted: everything is denied until a human corrects policies.yaml and runs: ${adopt}`
        : 'No policy is in force, since this installation has no operator yet: everything is denied until a human creates one.',
    );
  }
  if (ground.kind === 'locked') {
    return closed(
      'config_error',
      `The policy in force is locked: ${ground.reason} Everything is denied until a human runs: ${adopt}`,
    );
  }
  if (disk.state === 'missing') {
    return closed('no_policy', 'The policy file is missing: everything is denied until a human restores it.');
  }
  if (disk.state === 'unreadable') {
    return closed('config_error', 'The policy file cannot be read: everything is denied until a human repairs it.');
  }
  return { open: true, adopted: ground.adopted };
}
