// What a person sees before an upstream is accepted, and what they are told after. Decides nothing.
import { z } from 'zod';
import { actorOf } from '../../kernel/caller.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { OperationContext } from '../../kernel/operation.ts';
import { printable, printableLines } from '../../lib/printable.ts';
import { secretFacts, type RefKnowledge } from './secret-facts.ts';
import type { Tried } from './upstream-status.ts';
import type { Decision, UpstreamSpec } from './model.ts';
import type { Acceptable } from './roster.ts';
import { specFacts } from './spec.ts';
import type { Acceptance } from './store.ts';

export const acceptedOutput = z.strictObject({
  upstream: z.string(),
  accepted: z.literal(true),
  spec_digest: z.string(),
  connection: z.strictObject({
    ok: z.boolean(),
    tools: z.int().optional(),
    error: z.string().optional(),
    /** The tail of what it wrote before it failed. */
    stderr: z.string().optional(),
  }),
});
export type AcceptedOutput = z.infer<typeof acceptedOutput>;

/** Every fact the digest covers, the program or origin it means now, and what the acceptance replaces. */
export function acceptanceFacts(
  { spec, specDigest, program }: Acceptable,
  before: Acceptance | undefined,
  refs: RefKnowledge,
): JsonObject {
  const secrets = secretFacts(spec, program, refs);
  return {
    ...reached(spec, program),
    ...(secrets.length === 0 ? {} : { secrets: [...secrets] }),
    spec_digest: specDigest,
    ...(before === undefined ? {} : { replaces: { spec_digest: before.specDigest, program: before.program ?? null } }),
    pins:
      before?.specDigest === specDigest
        ? 'stay as they are'
        : 'all tools of the first listing are accepted; later changes wait for review',
  };
}

function reached(spec: UpstreamSpec, program: string | undefined): JsonObject {
  if (spec.transport.kind === 'stdio') return { runs: specFacts(spec), program: program ?? null };
  const { origin, protocol } = new URL(spec.transport.url);
  return {
    connects: specFacts(spec),
    url: spec.transport.url,
    origin,
    encrypted: protocol === 'https:' ? 'yes, its certificate is verified' : 'no: whoever is on the way reads and writes along',
  };
}

export function acceptedAnswer({ spec, specDigest }: Acceptable, { ok, tools, error, stderr }: Tried): AcceptedOutput {
  const connection = {
    ok,
    ...(tools === undefined ? {} : { tools }),
    ...(error === undefined ? {} : { error }),
    ...(stderr === undefined ? {} : { stderr }),
  };
  return { upstream: spec.name, accepted: true, spec_digest: specDigest, connection };
}

export function drawAccepted({ upstream, connection }: AcceptedOutput): string {
  const name = printable(upstream);
  const { ok, tools = 0, error = '', stderr } = connection;
  if (ok) return `${name} is accepted and runs, with ${tools} tools.`;
  return [
    `${name} is accepted and saved, but does not run: ${printable(error)}`,
    ...(stderr === undefined ? [] : [`  | ${printableLines(stderr)}`]),
    'It is tried again; see: sallyport upstream ls',
  ].join('\n');
}

export function decisionOf({ caller, proofFacts }: OperationContext): Decision {
  return { actor: actorOf(caller), ...(proofFacts === undefined ? {} : { proof: proofFacts }) };
}
