import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { policyFile } from '../../../test/support/policy-engine.ts';
import { createEngine } from './decide.ts';
import { noLimits, type PolicyFile, type Rule, type Section, type StatedLimits } from './document.ts';
import type { PolicyRequest, Verdict } from './model.ts';
import { parsePattern } from './pattern.ts';
import { parseRate, rateWithin } from './ttl.ts';
import { provablyNarrower } from './widening.ts';
import { wildcard } from './wildcard.ts';

// A small world, closed enough to ask every question there is.
const agents = ['a', 'ab', 'b', 'c'];
const capabilities = [
  'u:call:x',
  'u:call:y',
  'v:call:x',
  'u:read:x',
  'vault:inject:x',
  'u:call:*',
  '*:call:x',
  'u:*:x',
  'u:call:x*',
  '*:*:*',
];
const argsOfCalls = [undefined, {}, { k: 'x' }, { k: 'y' }, { k: 'x', l: 1 }] as const;
const annotationsOfTools = [undefined, {}, { readOnlyHint: true }, { readOnlyHint: false, destructiveHint: false }] as const;

const place = { line: 1, column: 1 };
const ids = fc.constantFrom('a', 'ab', 'a*', '*b', 'ab*', '*');
const patterns = fc
  .constantFrom('u:call:x', 'u:call:*', '*:call:x', 'u:*:*', '*:*:*', '{u,v}:call:{x,y}', 'v:call:*', 'vault:*:*', '*:read:*')
  .map(parsePattern);
const ttls = fc.option(fc.constantFrom(60_000, 300_000, 3_600_000), { nil: undefined });
const redacts = fc.constantFrom([], ['email'], ['email', 'card'], ['card']) as fc.Arbitrary<Rule['redact']>;
const guards = fc.constantFrom(undefined, undefined, undefined, { k: 'x' }, { k: '*' }, { k: 'x', l: 1 });
const hints = fc.constantFrom(
  undefined,
  undefined,
  undefined,
  { readOnlyHint: true },
  { destructiveHint: true },
  { readOnlyHint: false, openWorldHint: true },
);

const rules: fc.Arbitrary<Rule> = fc
  .record({
    pattern: patterns,
    effect: fc.constantFrom('allow', 'allow', 'ask', 'deny'),
    ttlMs: ttls,
    redact: redacts,
    guard: guards,
    hints,
  })
  .map((rule) => ({ ...rule, ...(rule.effect === 'deny' ? { ttlMs: undefined, redact: [] } : {}), place }));

const limits: fc.Arbitrary<StatedLimits> = fc.oneof(
  { weight: 2, arbitrary: fc.constant(noLimits) },
  {
    weight: 1,
    arbitrary: fc.record({
      maxTtlMs: ttls,
      deny: fc.array(patterns, { maxLength: 2 }).map((denied) => denied.map((pattern) => ({ pattern, place }))),
      rate: fc.option(fc.constantFrom('10/m', '100/m', '100/h').map(parseRate), { nil: undefined }),
      approvalTtlMs: fc.option(fc.constantFrom(300_000, 3_600_000, 7_200_000), { nil: undefined }),
      maxLeaseTotalMs: fc.constant(undefined),
      maxInlineBytes: fc.constant(undefined),
      places: fc.constant(new Map()),
    }),
  },
);

const sections: fc.Arbitrary<Section> = fc
  .record({ id: ids, defaultTtlMs: ttls, limits, rules: fc.array(rules, { maxLength: 4 }) })
  .map((section) => ({ ...section, agents: wildcard(section.id), inherit: undefined, place }));

const files: fc.Arbitrary<PolicyFile> = fc.record({
  sections: fc.uniqueArray(sections, { maxLength: 3, selector: ({ id }) => id }),
  limits,
});

/** One change to a policy, of the kinds people make. */
const edits: fc.Arbitrary<(file: PolicyFile) => PolicyFile> = fc
  .tuple(fc.nat(99), fc.nat(99), fc.nat(13), rules, sections, limits)
  .map(([which, at, kind, rule, extra, otherLimits]) => (file) => {
    const target = which % Math.max(1, file.sections.length);
    const section = file.sections[target];
    if (kind === 0) return { ...file, limits: otherLimits };
    if (kind === 1) return { ...file, sections: file.sections.filter((_, index) => index !== target) };
    if (section === undefined || kind === 2)
      return { ...file, sections: [...file.sections.filter(({ id }) => id !== extra.id), extra] };
    const put = (changed: Partial<Section>): PolicyFile => ({
      ...file,
      sections: file.sections.with(target, { ...section, ...changed }),
    });
    const spot = at % Math.max(1, section.rules.length);
    const old = section.rules[spot];
    if (kind === 3) return put({ limits: otherLimits });
    if (kind === 4) return put({ defaultTtlMs: extra.defaultTtlMs });
    if (old === undefined || kind === 5) return put({ rules: section.rules.toSpliced(spot, 0, rule) });
    if (kind === 6) return put({ rules: section.rules.toSpliced(spot, 1) });
    const change = (changed: Partial<Rule>): PolicyFile => put({ rules: section.rules.with(spot, { ...old, ...changed }) });
    if (kind === 7) return change({ effect: 'deny', ttlMs: undefined, redact: [] });
    if (kind === 8) return change({ effect: 'ask' });
    if (kind === 9) return change({ ttlMs: rule.ttlMs });
    if (kind === 10) return change({ redact: rule.redact });
    if (kind === 11) return change({ guard: rule.guard });
    if (kind === 12) return change({ hints: rule.hints });
    return change({ pattern: rule.pattern });
  });

const freedom = { deny: 0, ask: 1, allow: 2 } as const;

function wider(before: Verdict, after: Verdict): boolean {
  if (after.effect === 'deny') return false;
  if (before.effect === 'deny' || freedom[after.effect] > freedom[before.effect]) return true;
  return after.ttlMs > before.ttlMs || !before.redact.every((category) => after.redact.includes(category));
}

/** The first question that the second policy answers more freely than the first. */
function widened(before: PolicyFile, after: PolicyFile): unknown {
  const [old, next] = [createEngine(before), createEngine(after)];
  for (const agent of agents) {
    const [one, other] = [old.agent(agent), next.agent(agent)];
    if (other.section === undefined) continue;
    if (!rateWithin(other.limits.rate, one.limits.rate) || other.limits.approvalTtlMs > one.limits.approvalTtlMs)
      return { agent, limits: true };
    for (const capability of capabilities) {
      for (const args of argsOfCalls) {
        for (const annotations of annotationsOfTools) {
          const request: PolicyRequest = { agent, capability, ...(args && { args }), ...(annotations && { annotations }) };
          const [was, is] = [old.decide(request), next.decide(request)];
          if (wider(was, is)) return { request, was, is };
        }
      }
    }
  }
  return undefined;
}

describe('provably narrower', () => {
  it('[POL-8] never calls narrower what any agent could use for more, longer or with less redacted', () => {
    let narrower = 0;
    fc.assert(
      fc.property(files, fc.array(edits, { minLength: 1, maxLength: 3 }), (before, changes) => {
        const after = changes.reduce((file, change) => change(file), before);
        if (!provablyNarrower(before, after).narrower) return;
        narrower += 1;
        expect(widened(before, after)).toBeUndefined();
      }),
      { numRuns: 4_000 },
    );
    expect(narrower).toBeGreaterThan(400);
  });

  it('[POL-8] never calls an unrelated policy narrower when it is not', () => {
    fc.assert(
      fc.property(files, files, (before, after) => {
        fc.pre(provablyNarrower(before, after).narrower);
        expect(widened(before, after)).toBeUndefined();
      }),
      { numRuns: 300, maxSkipsPerRun: 500 },
    );
  });

  it('[POL-8] knows that a policy is no wider than itself', () => {
    fc.assert(
      fc.property(files, (file) => {
        expect(provablyNarrower(file, file)).toEqual({ narrower: true });
      }),
      { numRuns: 1_000 },
    );
  });
});

const base = `
version: 1
limits: { deny: ['aws:*:*'], max_ttl: 1h }
agents:
  '*':
    default_ttl: 10m
    capabilities:
      - { match: 'x:call:deploy', effect: ask, ttl: 5m }
      - { match: 'x:call:*', effect: allow, redact: [email] }
  ci:
    capabilities:
      - { match: 'x:call:build', effect: allow }
`;

describe('edits people make', () => {
  it.each([
    ['a comment', (text: string) => `# hello\n${text}`],
    ['allow becomes ask', (text: string) => text.replace("'x:call:*', effect: allow", "'x:call:*', effect: ask")],
    ['ask becomes deny', (text: string) => text.replace('effect: ask, ttl: 5m', 'effect: deny')],
    ['a deny more', (text: string) => text.replace("'aws:*:*'", "'aws:*:*', 'x:call:drop'")],
    ['a wider deny', (text: string) => text.replace('aws:*:*', '*:*:*')],
    ['a shorter ttl', (text: string) => text.replace('ttl: 5m', 'ttl: 1m')],
    ['a shorter default', (text: string) => text.replace('default_ttl: 10m', 'default_ttl: 9m')],
    ['more redaction', (text: string) => text.replace('[email]', '[email, card]')],
    [
      'a guard on an allow at the end',
      (text: string) => text.replace("build', effect: allow", "build', effect: allow, when: { branch: dev }"),
    ],
    ['a lower rate', (text: string) => text.replace('max_ttl: 1h', 'max_ttl: 1h, rate_limit: 5/m')],
    ['a last allow removed', (text: string) => text.replace("- { match: 'x:call:build', effect: allow }", '[]')],
  ])('[POL-8] %s is narrower', (_name, edit) => {
    expect(provablyNarrower(policyFile(base), policyFile(edit(base)))).toEqual({ narrower: true });
  });

  it.each([
    ['ask becomes allow', (text: string) => text.replace('effect: ask', 'effect: allow'), 'may now allow more'],
    ['an ask removed', (text: string) => text.replace(/ +- { match: 'x:call:deploy'.*\n/, ''), 'may now allow more'],
    ['a deny removed', (text: string) => text.replace("deny: ['aws:*:*'], ", ''), "'aws:*:*' is no longer denied"],
    ['a deny narrowed', (text: string) => text.replace('aws:*:*', 'aws:*:production'), "'aws:*:*' is no longer denied"],
    ['a longer ttl', (text: string) => text.replace('ttl: 5m', 'ttl: 6m'), 'no longer ends after 5m'],
    ['a longer default', (text: string) => text.replace('default_ttl: 10m', 'default_ttl: 11m'), 'for longer'],
    ['a ttl removed', (text: string) => text.replace(', ttl: 5m', ''), 'no longer ends after 5m'],
    ['less redaction', (text: string) => text.replace(', redact: [email]', ''), 'no longer redacts email'],
    ['a raised ceiling', (text: string) => text.replace('max_ttl: 1h', 'max_ttl: 2h'), 'max_ttl is no longer at most 1h'],
    [
      'a raised default rate',
      (text: string) => text.replace('max_ttl: 1h', 'max_ttl: 1h, rate_limit: 31/m'),
      'rate_limit rises to 31/m',
    ],
    [
      'a longer approval',
      (text: string) => text.replace('max_ttl: 1h', 'max_ttl: 1h, approval_ttl: 11m'),
      'approval_ttl rises to 11m',
    ],
    [
      'a rule more',
      (text: string) => text.replace('build, effect', 'build, effect').concat("      - { match: 'y:call:z', effect: ask }\n"),
      'may now ask more',
    ],
    ['a section that hides a stricter one removed', (text: string) => text.replace(/ {2}ci:[^]*$/, ''), "section '*'"],
    [
      'an ask moved behind the allow',
      (text: string) => {
        const ask = / +- { match: 'x:call:deploy'.*\n/.exec(text)?.[0] ?? '';
        return text.replace(ask, '').replace(/(.*redact: \[email\].*\n)/, `$1${ask}`);
      },
      'may now allow more',
    ],
    [
      'a condition taken from a deny',
      (text: string) => text.replace('effect: ask, ttl: 5m', 'effect: deny, when: { env: prod }'),
      'may now allow more',
    ],
  ])('[POL-8] %s is wider, and the line says what', (_name, edit, line) => {
    expect(edit(base)).not.toBe(base);
    const verdict = provablyNarrower(policyFile(base), policyFile(edit(base)));
    expect(verdict).toMatchObject({ narrower: false, changes: expect.arrayContaining([expect.stringContaining(line)]) as unknown });
  });

  it('[POL-8] says wider where only the meaning, and not the structure, shows that it is not', () => {
    const after = policyFile(base.replace("'x:call:*', effect", "'x:call:{deploy,get}*', effect"));
    expect(provablyNarrower(policyFile(base), after)).toMatchObject({ narrower: false });
  });

  it('[POL-8] the first section for anybody is wider than none', () => {
    const verdict = provablyNarrower(
      policyFile('version: 1\nagents: {}\n'),
      policyFile("version: 1\nagents: { '*': { capabilities: [] } }\n"),
    );
    expect(verdict).toEqual({ narrower: false, changes: ["section '*': agents that had no section get one"] });
  });
});
