import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ask, engineOf, policyFile } from '../../../test/support/policy-engine.ts';
import { describeChanges } from './changes.ts';
import { explain } from './explain.ts';
import { parsePolicy } from './file.ts';
import { lint } from './lint.ts';
import { provablyNarrower } from './widening.ts';

const everybody = `
  '*':
    default_ttl: 20m
    limits: { deny: ['aws:*:production'] }
    capabilities:
      - { match: 'github:read:*', effect: allow }
      - { match: 'github:write:*', effect: ask }
      - { match: 'github:admin:*', effect: deny }
`;
const text = (more: string): string => `version: 1\nagents:${everybody}${more}`;
const findings = (more: string): string[] => {
  const parsed = parsePolicy(text(more));
  return parsed.ok ? [] : parsed.findings.map(({ line, message, hint }) => `${line}: ${message} ${hint ?? ''}`);
};

describe('a section that inherits', () => {
  const kimi = `  kimi:\n    inherit: '*'\n    capabilities:\n      - { match: 'github:write:docs/*', effect: allow, ttl: 5m }\n`;

  test('[PROP-6] has its own rules first, then those of the other, with its default_ttl and every limit', () => {
    const engine = engineOf(text(kimi));
    expect(ask(engine, 'github:write:docs/x')).toMatchObject({ effect: 'allow', ttlMs: 300_000 });
    expect(ask(engine, 'github:write:src/x')).toMatchObject({ effect: 'ask', rule: 'github:write:*' });
    expect(ask(engine, 'github:read:x')).toMatchObject({ effect: 'allow', ttlMs: 1_200_000 });
    expect(ask(engine, 'github:admin:x')).toMatchObject({ effect: 'deny', hard: true });
    expect(ask(engine, 'aws:write:production')).toMatchObject({ effect: 'deny', hard: true });
    expect(ask(engine, 'github:write:docs/x', { agent: 'bob' })).toMatchObject({ effect: 'ask' });
  });

  test('[PROP-6] keeps a default_ttl of its own, also for what it inherits', () => {
    const engine = engineOf(text(`  kimi: { inherit: '*', default_ttl: 3m }\n`));
    expect(ask(engine, 'github:read:x')).toMatchObject({ ttlMs: 180_000 });
  });

  test('[PROP-6] may inherit from one that inherits itself', () => {
    const engine = engineOf(
      text(`  kimi: { inherit: 'k*' }\n  'k*': { inherit: '*', capabilities: [{ match: 'x:call:y', effect: allow }] }\n`),
    );
    expect(ask(engine, 'x:call:y')).toMatchObject({ effect: 'allow' });
    expect(ask(engine, 'github:read:x')).toMatchObject({ effect: 'allow', ttlMs: 1_200_000 });
  });

  test('[PROP-6] decides like one with the same rules written out', () => {
    const patterns = fc.constantFrom('u:call:x', 'u:call:*', '*:call:x', '*:*:*', 'v:call:*');
    const rule = fc
      .record({ match: patterns, effect: fc.constantFrom('allow', 'ask'), ttl: fc.constantFrom('', ', ttl: 1m') })
      .map(({ match, effect, ttl }) => `{ match: '${match}', effect: ${effect}${ttl} }`);
    const list = fc.array(rule, { maxLength: 4 });
    const capability = fc.constantFrom('u:call:x', 'u:call:y', 'v:call:x', 'u:call:*', '*:*:*');
    fc.assert(
      fc.property(list, list, capability, (own, general, wanted) => {
        const all = `version: 1\nagents:\n  '*': { capabilities: [${general.join(', ')}] }\n`;
        const heir = engineOf(`${all}  kimi: { inherit: '*', capabilities: [${own.join(', ')}] }\n`);
        const written = engineOf(`${all}  kimi: { capabilities: [${[...own, ...general].join(', ')}] }\n`);
        expect(ask(heir, wanted)).toEqual(ask(written, wanted));
      }),
    );
  });

  test('[PROP-6] is explained with what it inherits marked, and its changes told without repeating that', () => {
    const { section, rules } = explain(engineOf(text(kimi)), { agent: 'kimi', capability: 'github:write:docs/x' });
    expect(section).toBe('kimi');
    expect(rules.map(({ rule, inherited }) => [rule, inherited])).toEqual([
      ['github:write:docs/*', undefined],
      ['github:write:*', true],
    ]);
    expect(describeChanges(policyFile(text('')), policyFile(text(kimi)))).toEqual([
      "+ section 'kimi'",
      "+ section 'kimi': inherit '*'",
      "+ section 'kimi': allow github:write:docs/*, ttl 5m",
    ]);
    expect(lint(policyFile(text(kimi)), ['kimi', 'bob'])).toEqual([]);
  });

  test('[PROP-6] [POL-8] widens nothing by that alone, and widens by what it adds', () => {
    const before = policyFile(text(''));
    expect(provablyNarrower(before, policyFile(text(`  kimi: { inherit: '*' }\n`)))).toEqual({ narrower: true });
    expect(provablyNarrower(before, policyFile(text(kimi)))).toEqual({
      narrower: false,
      changes: ["section 'kimi': 'github:write:docs/*' may now allow more, or for longer"],
    });
    const alone = policyFile(text(`  kimi: { capabilities: [{ match: 'github:read:x', effect: allow, ttl: 1m }] }\n`));
    const heir = policyFile(text(`  kimi: { inherit: '*', capabilities: [{ match: 'github:read:x', effect: allow, ttl: 1m }] }\n`));
    expect(provablyNarrower(alone, heir)).toMatchObject({ narrower: false });
    expect(provablyNarrower(heir, alone)).toEqual({ narrower: true });
  });

  test.each([
    [
      'a section that does not exist',
      `  kimi: { inherit: 'kimi-*' }\n`,
      "10: Section 'kimi' inherits from 'kimi-*', which does not exist. Name another section, such as '*'.",
    ],
    [
      'itself',
      `  kimi: { inherit: kimi }\n`,
      "10: Section 'kimi' cannot inherit from 'kimi', which is not about all its agents. Inherit from '*', or from a pattern of names that covers this one.",
    ],
    ['another agent', `  kimi: { inherit: bob }\n  bob: { capabilities: [] }\n`, "10: Section 'kimi' cannot inherit from 'bob'"],
    ['a pattern of some of its agents', `  'k*': { inherit: 'ki*' }\n  'ki*': { capabilities: [] }\n`, "cannot inherit from 'ki*'"],
    ['no text', `  kimi: { inherit: [a] }\n`, "'inherit' of section 'kimi' must be text"],
  ])('[PROP-6] cannot inherit from %s', (_, more, expected) => {
    expect(findings(more)).toEqual([expect.stringContaining(expected)]);
  });

  test('[PROP-6] two patterns that overlap inherit from neither, so no chain is a circle', () => {
    expect(findings(`  'a*': { inherit: '*a' }\n  '*a': { inherit: 'a*' }\n`)).toHaveLength(2);
  });

  test('[PROP-6] what is inherited is bounded, since rules are compared with each other', () => {
    const rules = Array.from({ length: 500 }, (_, at) => `{ match: 'u:call:t${at}', effect: ask }`).join(', ');
    const heirs = (count: number): string => Array.from({ length: count }, (_, at) => `  a${at}: { inherit: '*' }\n`).join('');
    const policy = (count: number) => parsePolicy(`version: 1\nagents:\n  '*': { capabilities: [${rules}] }\n${heirs(count)}`);
    expect(policy(20)).toMatchObject({ ok: true });
    expect(policy(21)).toMatchObject({ ok: false, findings: [{ line: 24, message: 'More than 10000 rules are inherited.' }] });
  });
});
