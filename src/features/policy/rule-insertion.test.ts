import { describe, expect, test } from 'vitest';
import { ask, engineOf, policyFile } from '../../../test/support/policy-engine.ts';
import { lineDifference } from '../../lib/line-difference.ts';
import { parsePattern } from './pattern.ts';
import { withRule } from './rule-insertion.ts';
import { starterPolicy } from './starter.ts';
import { parseTtl } from './ttl.ts';

const rule = (match: string, ttl?: string) => ({
  pattern: parsePattern(match),
  ttlMs: ttl === undefined ? undefined : parseTtl(ttl),
});
const added = (text: string, match = 'stripe:read:*', ttl: string | undefined = '10m', agent = 'kimi'): string =>
  withRule(text, policyFile(text), agent, rule(match, ttl)).text;
const difference = (text: string, match?: string, ttl?: string, agent?: string): string[] =>
  lineDifference(text, added(text, match, ttl, agent));

const line = "{ match: 'stripe:read:*', ttl: 10m, effect: allow }";

describe('a rule is added', () => {
  test('[PROP-5] behind the last one of the agent’s section, and every other byte stays', () => {
    const text = `# mine\nversion: 1\nagents:\n    kimi:   # the one\n        capabilities:\n        -   match: "a:b:c"   # odd\n            effect: ask # why\n        # more to come\n\n    bob: { capabilities: [] }\n`;
    expect(difference(text)).toEqual(['after line 7', `+         - ${line}`]);
  });

  test('[PROP-5] ahead of the first rule that asks about any part of it, above what is said about that rule', () => {
    const text = `version: 1\nagents:\n  kimi:\n    capabilities:\n      - { match: 'stripe:call:*', effect: allow }\n      # people decide\n      # about money\n      -\n        match: '{stripe,bank}:read:x'\n        effect: ask\n`;
    expect(difference(text)).toEqual(['after line 5', `+       - ${line}`]);
    expect(ask(engineOf(added(text)), 'stripe:read:x')).toMatchObject({ effect: 'allow' });
  });

  test.each([
    ['an empty list', `version: 1\nagents:\n  kimi: { capabilities: [] }\n`, `+   kimi: { capabilities: [${line}] }`],
    [
      'a list in one line',
      `version: 1\nagents:\n  kimi: { capabilities: [{ match: 'a:b:c', effect: allow } ] } # x\n`,
      `+   kimi: { capabilities: [{ match: 'a:b:c', effect: allow }, ${line} ] } # x`,
    ],
    [
      'a list in one line that asks',
      `version: 1\nagents:\n  kimi: { capabilities: [{ match: 'stripe:*:*', effect: ask }] }\n`,
      `+   kimi: { capabilities: [${line}, { match: 'stripe:*:*', effect: ask }] }`,
    ],
    ['a section of nothing', `version: 1\nagents:\n  kimi: {}\n`, `+   kimi: { capabilities: [${line}] }`],
    [
      'a section in one line',
      `version: 1\nagents:\n  kimi: { default_ttl: 5m }\n`,
      `+   kimi: { default_ttl: 5m, capabilities: [${line}] }`,
    ],
    ['agents in one line', `version: 1\nagents: { kimi: { capabilities: [] } }`, `+ agents: { kimi: { capabilities: [${line}] } }`],
    ['no agents', `version: 1\nagents: {}\n`, `+ agents: { 'kimi': { capabilities: [${line}] } }`],
    [
      'a text in JSON',
      `{"version": 1, "agents": {"*": {"capabilities": []}}}`,
      `+ {"version": 1, "agents": {"*": {"capabilities": []}, 'kimi': { inherit: '*', capabilities: [${line}] }}}`,
    ],
  ])('[PROP-5] to %s', (_, text, expected) => {
    expect(difference(text).at(-1)).toBe(expected);
  });

  test('[PROP-5] to a section without rules, and to a text without a last line feed', () => {
    expect(difference(`version: 1\nagents:\n  kimi:\n    default_ttl: 5m # short\n  bob: {}`)).toEqual([
      'after line 4',
      '+     capabilities:',
      `+       - ${line}`,
    ]);
    const open = `version: 1\nagents:\n  kimi:\n    capabilities:\n      - { match: 'a:b:c', effect: allow }`;
    expect(added(open)).toBe(`${open}\n      - ${line}`);
  });

  test('[PROP-5] [PROP-6] for an agent under *, in a section that inherits what it had', () => {
    const text = added(starterPolicy);
    expect(text.startsWith(starterPolicy)).toBe(true);
    expect(text.slice(starterPolicy.length)).toBe(`  'kimi':\n    inherit: '*'\n    capabilities:\n      - ${line}\n`);
    const engine = engineOf(text);
    expect(ask(engine, 'stripe:read:x')).toMatchObject({ effect: 'allow', ttlMs: 600_000 });
    expect(ask(engine, 'any:call:get', { annotations: { readOnlyHint: true } })).toMatchObject({ effect: 'allow' });
    expect(ask(engine, 'stripe:read:x', { agent: 'bob' })).toMatchObject({ effect: 'deny' });
  });

  test('[PROP-5] [PROP-6] for an agent under a pattern, which inherits from that; without any section it inherits nothing', () => {
    const text = `version: 1\nagents:\n  'ki*': { capabilities: [{ match: 'a:b:c', effect: allow }] }\n  '*': { capabilities: [] }\n`;
    expect(difference(text)).toContain("+     inherit: 'ki*'");
    const without = `version: 1\nagents:\n  bob: { capabilities: [] }\n`;
    expect(difference(without)).toEqual(['after line 3', "+   'kimi':", '+     capabilities:', `+       - ${line}`]);
  });

  test('[PROP-5] under names that YAML would read as something else', () => {
    for (const agent of ['true', 'null', '12', '1e3', '0x1f', 'y'])
      expect(added(starterPolicy, 'a:b:c', undefined, agent)).toContain(`\n  '${agent}':\n`);
  });

  test('[PROP-5] in quotes, whatever characters its pattern has', () => {
    const match = `fs:read:it's "x" #1, {b,c}`;
    const { file } = withRule(starterPolicy, policyFile(starterPolicy), 'kimi', rule(match));
    expect(file.sections.at(-1)?.rules[0]?.pattern.text).toBe(match);
  });

  test('[PROP-5] in the line endings of the text', () => {
    const text = starterPolicy.replaceAll('\n', '\r\n');
    expect(added(text).replaceAll('\r\n', '')).not.toContain('\n');
  });

  test('[PROP-5] or refused with what to write by hand, where the layout leaves no safe place', () => {
    const strange = `version: 1\nagents:\n  kimi:\n    ? capabilities\n    : - match: a:b:c\n        effect: ask\n      - match: stripe:read:x\n        effect: allow\n`;
    expect(() => added(strange, 'a:b:*')).toThrow(
      expect.objectContaining({ code: 'policy.not_editable', hint: expect.stringContaining("section 'kimi'") as string }),
    );
  });

  test('[PROP-5] but never beyond what a policy may hold', () => {
    const full = `version: 1\nagents:\n  kimi: {}\n${'#'.repeat(262_144 - 30)}`.slice(0, 262_144);
    expect(() => added(full)).toThrow(expect.objectContaining({ code: 'policy.not_editable' }));
  });
});
