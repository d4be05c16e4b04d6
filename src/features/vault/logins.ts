// Values that the gateway got by logging in somewhere. A person signs for each login; from then on the gateway may put a newer value in its
// place, and only there: the namespace is bound into every sealed byte, so no secret that a person put can be written over this way.
import type { Decision, RefFacts, Secret } from './model.ts';
import type { Secrets } from './secrets.ts';
import type { Patience } from './waiting.ts';

export interface Logins {
  /** Sorted by name; also while the vault is locked. */
  list(): readonly RefFacts[];
  known(ref: string): boolean;
  /** A copy; the caller wipes it. While the vault is locked it waits. Rejects as `Vault.values` does. */
  value(ref: string, patience: Patience): Promise<Secret>;
  /** The same at once. Throws `vault.locked`, `vault.absent`, `vault.damaged`, `vault.unknown_ref`. */
  valueNow(ref: string): Secret;
  /** A login that a person signed for, in place of an earlier one of this name. */
  keep(ref: string, value: Uint8Array, by: Decision): Promise<RefFacts>;
  /** By the daemon itself: another value of a login that is there. Rejects with `vault.unknown_ref`. One synced commit, on the record. */
  renew(ref: string, value: Uint8Array): Promise<RefFacts>;
}

export function createLogins(secrets: Secrets, opened: (ref: string, patience: Patience) => Promise<void>): Logins {
  function valueNow(ref: string): Secret {
    const [secret] = secrets.values([ref]);
    if (secret === undefined) throw new RangeError('one was asked for');
    return secret;
  }

  return {
    list: () => secrets.list(),
    known: (ref) => secrets.known(ref),
    async value(ref, patience) {
      await opened(ref, patience);
      return valueNow(ref);
    },
    valueNow,
    keep: (ref, value, by) => (secrets.known(ref) ? secrets.rotate(ref, value, by) : secrets.add(ref, value, by)),
    renew: (ref, value) => secrets.rotate(ref, value, { actor: 'daemon' }),
  };
}
