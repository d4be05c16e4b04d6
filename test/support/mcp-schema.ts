// The published JSON Schemas of the protocol as judges of messages. Formats are left to those who mean them: what is checked is shape.
import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

export type Revision = '2025-11-25' | '2026-07-28';

const compiled = new Map<Revision, Ajv2020>();

/** Why `value` is no `type` of the revision; empty when it is one. */
export function schemaFaults(revision: Revision, type: string, value: unknown): string[] {
  const judge = schemaOf(revision).getSchema(`mcp#/$defs/${type}`) as ValidateFunction | undefined;
  if (judge === undefined) throw new Error(`revision ${revision} has no type ${type}`);
  judge(value);
  return (judge.errors ?? []).map(({ instancePath, message }) => `${type}${instancePath} ${message}`);
}

function schemaOf(revision: Revision): Ajv2020 {
  let ajv = compiled.get(revision);
  if (ajv === undefined) {
    ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
    const file = new URL(`../fixtures/mcp-schema/${revision}.json`, import.meta.url);
    ajv.addSchema({ ...(JSON.parse(readFileSync(file, 'utf8')) as object), $id: 'mcp' });
    compiled.set(revision, ajv);
  }
  return ajv;
}
