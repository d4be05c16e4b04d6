// One remark about a policy. A warning changes what passes compared with what the text seems to say; a note is worth knowing.
import type { Finding, Place } from './document.ts';

export interface LintFinding extends Finding {
  readonly severity: 'warning' | 'note';
}

export function finding(severity: LintFinding['severity'], { line, column }: Place, message: string, hint?: string): LintFinding {
  return { severity, line, column, message, ...(hint === undefined ? {} : { hint }) };
}
