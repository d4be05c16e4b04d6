// The face of the results slice: what is done to an upstream's answer before an agent sees it.
import { redactJson, type Redacted } from './redact.ts';
import type { Json } from '../../kernel/json.ts';
import type { RedactCategory } from '../policy/model.ts';

export interface Results {
  /** JSON text in, JSON text out; the very same text where nothing had to be masked (DESIGN invariant 11). `parsed` spares a second parse. */
  redact(json: string, categories: readonly RedactCategory[], parsed?: Json): Redacted;
}

export function createResults(): Results {
  return { redact: redactJson };
}
