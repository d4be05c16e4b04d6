// What the operations of this slice are given.
import type { Files } from '../../../kernel/ports.ts';
import type { AuditLog } from '../audit.ts';

export interface AuditParts {
  readonly audit: AuditLog;
  readonly files: Files;
  /** Absolute path of the offline verifier, scripts/verify-audit.mjs of the package. */
  readonly verifierPath: string;
}
