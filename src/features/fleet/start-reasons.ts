// Whose matter a failed start is: the upstream's, ours, or that of a person who has to give or mend a login. Counts nothing.
import type { AppError } from '../../kernel/errors.ts';
import type { MemberEvent } from './member.ts';

export type StartReason = 'upstream' | 'ours' | 'login' | 'secrets';

/** Only a person mends these. */
const ofLogin: ReadonlySet<string> = new Set([
  'fleet.auth_broken',
  'auth.refused',
  'auth.needs_reauth',
  'auth.unfit_value',
  'auth.unsupported',
  'auth.unbound',
]);

export function reasonOf({ code }: AppError): StartReason {
  // Nothing may be recorded, or the vault is closed: it says nothing of the upstream, and the next call tries again.
  if (code.startsWith('audit.') || code.startsWith('vault.')) return 'ours';
  if (code === 'auth.waiting_for_secret') return 'secrets';
  return ofLogin.has(code) ? 'login' : 'upstream';
}

/** What becomes of the member where time does not heal it. */
export const endings: Readonly<Record<Exclude<StartReason, 'upstream'>, MemberEvent>> = {
  ours: { kind: 'start_abandoned' },
  login: { kind: 'login_refused' },
  secrets: { kind: 'secret_missing' },
};
