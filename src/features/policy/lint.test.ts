import { describe, expect, it } from 'vitest';
import { policyFile, rulesText } from '../../../test/support/policy-engine.ts';
import { describeChanges } from './changes.ts';
import type { PolicyFile } from './document.ts';
import { lint } from './lint.ts';
import { starterPolicy } from './starter.ts';

const rules = (...lines: string[]): PolicyFile => policyFile(rulesText(...lines));

const remarks = (policy: PolicyFile, agents?: readonly string[]): string[] =>
  lint(policy, agents).map(({ severity, line, message }) => `${line} ${severity}: ${message}`);

describe('what hardly anybody means', () => {
  it('[POL-9] names a rule that a deny makes dead', () => {
    const policy = policyFile(`version: 1
limits: { deny: ['aws:*:*'] }
agents:
  '*':
    capabilities:
      - { match: 'aws:deploy:*', effect: ask }
      - { match: 'x:call:drop', effect: allow }
      - { match: 'x:call:*', effect: deny }
`);
    expect(remarks(policy)).toEqual([
      "6 warning: Dead: all of 'aws:deploy:*' is denied by 'aws:*:*' (line 2).",
      "7 warning: Dead: all of 'x:call:drop' is denied by 'x:call:*' (line 8).",
    ]);
  });

  it('[POL-9] counts denies of other sections only where they hold for every agent of this one', () => {
    const policy = policyFile(`version: 1
agents:
  'ci-*':
    capabilities: [{ match: 'a:call:x', effect: allow }, { match: 'b:call:x', effect: allow }]
  '*':
    limits: { deny: ['a:*:*'] }
    capabilities: [{ match: 'b:call:x', effect: allow }, { match: 'c:call:x', effect: allow }]
  'ci-eu':
    limits: { deny: ['b:*:*'] }
    capabilities: [{ match: 'd:call:x', effect: allow }]
`);
    expect(remarks(policy)).toEqual(["4 warning: Dead: all of 'a:call:x' is denied by 'a:*:*' (line 6)."]);
  });

  it('[POL-9] names a question that is never asked', () => {
    expect(remarks(rules("match: 'x:call:*', effect: allow", "match: 'x:call:drop', effect: ask, ttl: 1m"))).toEqual([
      "6 warning: Shadowed: nobody is ever asked about 'x:call:drop', since 'x:call:*' (line 5) allows all of it first. Its ttl and redactions still count.",
    ]);
  });

  it('[POL-9] names a rule that never decides', () => {
    expect(remarks(rules("match: 'x:call:*', effect: ask", "match: 'x:call:{a,b}', effect: allow"))).toEqual([
      "6 warning: Shadowed: 'x:call:{a,b}' never decides, since 'x:call:*' (line 5) covers all of it first.",
    ]);
  });

  it('[POL-9] names a contradiction', () => {
    expect(remarks(rules("match: 'x:call:a', effect: ask", "match: 'x:call:a', effect: allow"))).toEqual([
      "6 warning: Contradiction: 'x:call:a' is 'allow' here and 'ask' in line 5, which decides.",
    ]);
  });

  it('[POL-9] names an allow that takes a part out of a later question, and not the usual exception', () => {
    expect(remarks(rules("match: 'x:call:*', effect: allow", "match: '*:call:drop', effect: ask"))).toEqual([
      "6 warning: A part of '*:call:drop' passes without asking: 'x:call:*' (line 5) allows it first.",
    ]);
    expect(remarks(rules("match: 'x:call:get_*', effect: allow", "match: 'x:call:*', effect: ask"))).toEqual([]);
    expect(
      remarks(rules("match: '*:call:*', effect: allow, annotations: { readOnlyHint: true }", "match: 'x:call:*', effect: ask")),
    ).toEqual(["6 note: A part of 'x:call:*' passes without asking: '*:call:* [readOnlyHint: true]' (line 5) allows it first."]);
  });

  it('[POL-9] knows that a condition leaves something for the later rule', () => {
    expect(remarks(rules("match: 'x:call:a', effect: allow, when: { b: c }", "match: 'x:call:a', effect: ask"))).toEqual([]);
    expect(
      remarks(rules("match: 'x:call:a', effect: allow, when: { b: c }", "match: 'x:call:a', effect: ask, when: { b: c }")),
    ).toEqual([`6 warning: Contradiction: 'x:call:a [b: "c"]' is 'ask' here and 'allow' in line 5, which decides.`]);
    expect(remarks(rules("match: 'x:call:*', effect: ask", "match: 'x:call:a', effect: allow, when: { b: c }"))).toEqual([
      `6 warning: Shadowed: 'x:call:a [b: "c"]' never decides, since 'x:call:*' (line 5) covers all of it first.`,
    ]);
  });

  it('[POL-9] names conditions about nothing', () => {
    expect(
      remarks(
        rules(
          "match: 'x:read:*', effect: ask, when: { a: b }",
          "match: 'y:write:*', effect: ask, annotations: { readOnlyHint: true }",
        ),
      ),
    ).toEqual([
      `5 warning: 'x:read:* [a: "b"]' tests arguments, but only tool calls have some.`,
      "6 warning: 'y:write:* [readOnlyHint: true]' never applies: only tools have annotations.",
    ]);
  });

  it('[POL-9] names a rule that lifts a built-in question', () => {
    expect(remarks(rules("match: '*:*:*', effect: allow"))).toEqual([
      "5 warning: '*:*:*' also allows 'vault:inject:*', about which a person is asked by default.",
    ]);
  });

  it('[POL-9] names limits without effect, repeated or cut', () => {
    const policy = policyFile(`version: 1
limits:
  max_ttl: 10m
  rate_limit: 30/m
  max_lease_total: 2h
  max_inline_bytes: 512
  deny: ['a:b:*', 'a:b:c', 'a:b:*']
agents:
  '*':
    default_ttl: 1h
    limits: { rate_limit: 100/h }
    capabilities: [{ match: 'x:call:y', effect: allow, ttl: 2h }]
`);
    expect(remarks(policy)).toEqual([
      "5 note: 'max_lease_total' is read and kept, but has no effect in this version.",
      "6 note: 'max_inline_bytes' is read and kept, but has no effect in this version.",
      "7 note: 'a:b:c' is already denied by 'a:b:*' (line 7).",
      "7 note: 'a:b:*' is already denied by 'a:b:*' (line 7).",
      '9 note: The default_ttl of 1h is cut to max_ttl, 10m.',
      '11 note: rate_limit 100/h and the global 30/m together are kept by 30/h.',
      '12 note: The ttl of 2h is cut to max_ttl, 10m.',
    ]);
  });

  it('[POL-9] names sections and agents that miss each other', () => {
    const policy = policyFile(
      "version: 1\nagents:\n  kimi: { capabilities: [{ match: 'x:call:y', effect: ask }] }\n  kmii: {}\n  'ci-*': {}\n",
    );
    expect(remarks(policy, ['kimi', 'codex'])).toEqual([
      "1 note: Agent 'codex' has no section: everything is denied to it.",
      "4 warning: Section 'kmii' permits nothing, and its agents get no rules from any other section.",
      "4 note: No agent is called 'kmii'.",
      "5 warning: Section 'ci-*' permits nothing, and its agents get no rules from any other section.",
      "5 note: No agent is called 'ci-*'.",
    ]);
  });

  it('has nothing to say about the starter policy', () => {
    expect(lint(policyFile(starterPolicy), ['kimi'])).toEqual([]);
  });
});

describe('changes for a person to read', () => {
  const before = policyFile(`version: 1
limits: { deny: ['a:b:c'] }
agents:
  kimi:
    capabilities:
      - { match: 'x:call:a', effect: ask, ttl: 5m, redact: [email] }
      - { match: 'x:call:b', effect: allow }
`);

  it('are what was added and what was taken away', () => {
    const after = policyFile(`version: 1
limits: { max_ttl: 1h }
agents:
  kimi:
    default_ttl: 5m
    capabilities:
      - { match: 'x:call:a', effect: allow, ttl: 5m, redact: [email] }
      - { match: 'x:call:b', effect: allow }
  '*': { capabilities: [{ match: 'x:call:c', effect: ask, when: { a: 1 } }] }
`);
    expect(describeChanges(before, after)).toEqual([
      '- global limits: deny a:b:c',
      '+ global limits: max_ttl 1h',
      "- section 'kimi': ask x:call:a, ttl 5m, redact email",
      "+ section 'kimi': default_ttl 5m",
      "+ section 'kimi': allow x:call:a, ttl 5m, redact email",
      "+ section '*'",
      "+ section '*': ask x:call:c [a: 1]",
    ]);
  });

  it('tell another order of the same rules', () => {
    const [section] = before.sections;
    if (section === undefined) throw new Error('no section');
    const turned = { ...before, sections: [{ ...section, rules: section.rules.toReversed() }] };
    expect(describeChanges(before, turned)).toEqual(["~ section 'kimi': the order of its rules"]);
    expect(describeChanges(before, before)).toEqual([]);
  });

  it('are everything when there was nothing before', () => {
    expect(describeChanges(undefined, before)).toContain("+ section 'kimi': allow x:call:b");
  });
});
