// policy.explain: why an agent may, must ask for, or may not do something, rule by rule.
import { z } from 'zod';
import { AppError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { defineOperation, type ToolAnnotations } from '../../../kernel/operation.ts';
import { explain } from '../explain.ts';
import type { PolicyAdmin } from '../policy.ts';
import { openingOf } from '../standing.ts';
import { formatTtl } from '../ttl.ts';

export interface ExplainDeps {
  readonly policy: PolicyAdmin;
  /** Of the accepted definition behind a `<upstream>:call:<tool>`, if there is one. */
  readonly annotationsOf: (capability: string) => ToolAnnotations | undefined;
}

const input = z.strictObject({
  agent: z.string().min(1).max(64).describe("The agent's name."),
  capability: z.string().min(1).max(2_048).describe('<upstream>:<action>:<resource>, e.g. github:call:get_issue or github:call:*.'),
  args: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("The call's arguments as JSON; without them guards are carried, not tested."),
  ttl: z.string().optional().describe('The ttl that would be asked for, e.g. 10m.'),
});

const output = z.strictObject({
  agent: z.string(),
  capability: z.string(),
  decision: z.enum(['allow', 'ask', 'deny']),
  reason: z.string(),
  code: z.string().optional(),
  section: z.string().nullable().describe('The section whose rules count.'),
  ttl: z.string().optional(),
  ttl_is_least_of: z.array(z.strictObject({ from: z.string(), value: z.string() })),
  redact: z.array(z.string()),
  guards: z.array(z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]))),
  denies: z.array(z.strictObject({ deny: z.string(), from: z.string(), line: z.number(), bites: z.boolean() })),
  rules: z.array(
    z.strictObject({
      rule: z.string(),
      effect: z.enum(['allow', 'ask']),
      line: z.number(),
      built_in: z.boolean(),
      reach: z.enum(['all of it', 'a part of it']),
      condition: z.enum(['none', 'holds', 'may hold', 'fails']),
      decides: z.boolean(),
      inherited: z.literal(true).optional().describe('It came with `inherit:`.'),
    }),
  ),
});

type Output = z.infer<typeof output>;

export function explainOperation({ policy, annotationsOf }: ExplainDeps) {
  return defineOperation<z.infer<typeof input>, Output>({
    name: 'policy.explain',
    summary: 'Explain how the policy in force decides about a capability of an agent.',
    input,
    output,
    effect: 'look',
    access: 'local',
    command: { words: 'policies explain', positionals: ['agent', 'capability'], draw },
    run({ agent, capability, args, ttl }) {
      const opening = openingOf(policy.standing());
      if (!opening.open)
        throw new AppError('unavailable', 'policy.locked', opening.reason, { hint: 'Run: sallyport policies check' });
      const annotations = annotationsOf(capability);
      const {
        verdict,
        section,
        ttl: ttl_is_least_of,
        denies,
        rules,
      } = explain(opening.adopted.engine, {
        agent,
        capability,
        ...(args === undefined ? {} : { args: args as JsonObject }),
        ...(annotations === undefined ? {} : { annotations }),
        ...(ttl === undefined ? {} : { requestedTtl: ttl }),
      });
      const passes = verdict.effect === 'deny' ? undefined : verdict;
      return Promise.resolve({
        agent,
        capability,
        decision: verdict.effect,
        reason: verdict.reason,
        ...(verdict.effect === 'deny' ? { code: verdict.code } : {}),
        section,
        ...(passes === undefined ? {} : { ttl: formatTtl(passes.ttlMs) }),
        ttl_is_least_of: [...ttl_is_least_of],
        redact: [...(passes?.redact ?? [])],
        guards: (passes?.guards ?? []).map((guard) => ({ ...guard })),
        denies: [...denies],
        rules: [...rules],
      });
    },
  });
}

function draw({ agent, capability, decision, reason, section, ttl, ttl_is_least_of, redact, denies, rules }: Output): string {
  const row = (mark: string, line: number, text: string): string =>
    `${mark} ${line === 0 ? 'built-in' : `line ${line}`}`.padEnd(13) + text;
  return [
    `${agent}  ${capability}`,
    `${decision}: ${reason}`,
    section === null ? 'No section.' : `Rules of section '${section}':`,
    ...denies.map(({ deny, from, line, bites }) =>
      row(bites ? '!' : ' ', line, `deny ${deny} (${from})${bites ? '' : ', condition fails'}`),
    ),
    ...rules.map(({ rule, effect, line, reach, condition, decides, inherited }) => {
      const more = [...(condition === 'none' ? [] : [`condition ${condition}`]), ...(inherited === true ? ['inherited'] : [])];
      return row(decides ? '>' : ' ', line, [`${effect} ${rule}: ${reach}`, ...more].join(', '));
    }),
    ...(denies.length + rules.length === 0 ? ['  nothing matches'] : []),
    ...(ttl === undefined
      ? []
      : [`ttl ${ttl}: the least of ${ttl_is_least_of.map(({ from, value }) => `${value} (${from})`).join(', ')}`]),
    ...(redact.length === 0 ? [] : [`redacted: ${redact.join(', ')}`]),
  ].join('\n');
}
