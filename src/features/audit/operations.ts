// What the audit slice offers to the doors: looks only, since nothing may change a record.
import type { Operation } from '../../kernel/operation.ts';
import { exportOperation } from './operations/export.ts';
import type { AuditParts } from './operations/parts.ts';
import { proveOperation } from './operations/prove.ts';
import { queryOperation } from './operations/query.ts';
import { verifyOperation } from './operations/verify.ts';

export function auditOperations(parts: AuditParts): Operation[] {
  return [queryOperation(parts), verifyOperation(parts), proveOperation(parts), exportOperation(parts)];
}
