import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Finding, PolicyFile } from './document.ts';
import { parsePolicy } from './file.ts';
import { starterPolicy } from './starter.ts';

const findings = (text: string): readonly Finding[] => {
  const parsed = parsePolicy(text);
  return parsed.ok ? [] : parsed.findings;
};

const file = (text: string): PolicyFile => {
  const parsed = parsePolicy(text);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.findings));
  return parsed.file;
};

const withRule = (rule: string): string => `version: 1\nagents:\n  a:\n    capabilities:\n      - ${rule}\n`;

describe('a whole policy', () => {
  it('is read with every key there is', () => {
    const read = file(`
# everything
version: 1
limits: { max_ttl: 1h, deny: ['aws:*:{prod,production}'], rate_limit: 5/s, approval_ttl: 3m, max_lease_total: 2h, max_inline_bytes: 256 }
agents:
  ci-*:
    default_ttl: 5m
    limits: { deny: ['x:y:z'] }
    capabilities:
      - match: x:call:{a,b}
        auto_approve: true
        ttl: 90s
        redact: [pii]
        when: { env: 'dev*', n: 3, dry: true }
        annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }
      - { match: x:call:c, require: human_approval }
      - { match: x:call:d, auto_approve: true, require: human_approval }
      - { match: x:call:e, effect: deny }
  '*': {}
`);
    expect(read.sections.map(({ id, defaultTtlMs, rules }) => [id, defaultTtlMs, rules.map(({ effect }) => effect)])).toEqual([
      ['ci-*', 300_000, ['allow', 'ask', 'ask', 'deny']],
      ['*', undefined, []],
    ]);
    expect(read.sections[0]?.rules[0]).toMatchObject({
      ttlMs: 90_000,
      redact: ['email', 'phone', 'card', 'aws_access_key'],
      guard: { env: 'dev*', n: 3, dry: true },
      hints: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      place: { line: 10, column: 9 },
    });
    expect(read.limits).toMatchObject({
      maxTtlMs: 3_600_000,
      rate: { count: 5, perMs: 1_000 },
      maxLeaseTotalMs: 7_200_000,
      maxInlineBytes: 256,
    });
  });

  it('reads the same with CRLF line ends and a byte order mark', () => {
    expect(file(`\ufeff${starterPolicy.replaceAll('\n', '\r\n')}`).sections[0]?.rules).toHaveLength(2);
  });
});

describe('unknown keys', () => {
  it.each([
    ['at the top', 'version: 1\nagent: {}\nagents: {}\n', 2, 1, "Unknown key 'agent' in the policy.", "Did you mean 'agents'?"],
    [
      'in a section',
      'version: 1\nagents:\n  a:\n    capabilites: []\n',
      4,
      5,
      "Unknown key 'capabilites' in section 'a'.",
      "Did you mean 'capabilities'?",
    ],
    [
      'in the global limits',
      'version: 1\nlimits:\n  denny: []\nagents: {}\n',
      3,
      3,
      "Unknown key 'denny' in the global limits.",
      "Did you mean 'deny'?",
    ],
    [
      'in the limits of a section',
      'version: 1\nagents:\n  a:\n    limits: { max-ttl: 1h }\n',
      4,
      15,
      "Unknown key 'max-ttl' in the limits of section 'a'.",
      "Did you mean 'max_ttl'?",
    ],
    [
      'in a rule',
      withRule('{ match: x:call:y, efect: allow, effect: ask }'),
      5,
      28,
      "Unknown key 'efect' in a rule.",
      "Did you mean 'effect'?",
    ],
    [
      'in annotations',
      withRule('{ match: x:call:y, effect: allow, annotations: { readonlyHint: true } }'),
      5,
      58,
      "Unknown key 'readonlyHint' in 'annotations'.",
      "Did you mean 'readOnlyHint'?",
    ],
    [
      'far from any',
      'version: 1\nagents: {}\nzzzzzzzzz: 1\n',
      3,
      1,
      "Unknown key 'zzzzzzzzz' in the policy.",
      'Known keys: version, agents, limits.',
    ],
    [
      'that only an attacker would write',
      'version: 1\nagents: {}\n__proto__: {}\n',
      3,
      1,
      "Unknown key '__proto__' in the policy.",
      'Known keys: version, agents, limits.',
    ],
  ])('[POL-5] %s are refused with a suggestion and a place', (_where, text, line, column, message, hint) => {
    expect(findings(text)).toContainEqual({ line, column, message, hint });
  });

  it('[POL-5] all of them are told at once, in the order of the text', () => {
    const text =
      'version: 2\nlimit: {}\nagents:\n  a:\n    capabilities:\n      - { match: x:y, effekt: allow }\n      - { mach: x:y:z, effect: deny }\n';
    expect(findings(text).map(({ line }) => line)).toEqual([1, 2, 6, 6, 6, 7, 7]);
  });

  it('[POL-5] any letter changed in any key of a good policy is refused', () => {
    const good =
      'version: 1\nlimits:\n  max_ttl: 1h\n  deny: [a:b:c]\nagents:\n  a:\n    default_ttl: 1m\n    capabilities:\n      - match: x:call:y\n        effect: allow\n        redact: [email]\n        annotations: { readOnlyHint: true }\n';
    const keys = [
      'version',
      'limits',
      'max_ttl',
      'deny',
      'agents',
      'default_ttl',
      'capabilities',
      'match',
      'effect',
      'redact',
      'annotations',
      'readOnlyHint',
    ];
    fc.assert(
      fc.property(fc.constantFrom(...keys), fc.nat(30), fc.constantFrom('q', 'Q', '7'), (key, at, letter) => {
        const spot = at % key.length;
        const broken = good.replace(`${key}:`, `${key.slice(0, spot)}${letter}${key.slice(spot + 1)}:`);
        expect(findings(broken).some(({ message }) => message.startsWith('Unknown key'))).toBe(true);
      }),
      { numRuns: 300 },
    );
    expect(findings(good)).toEqual([]);
  });
});

describe('what else is refused', () => {
  it.each([
    ['an empty file', '', 'The file is empty.'],
    ['only comments', '# hello\n', 'The file is empty.'],
    ['a list', '- a\n', 'must be a map'],
    ['no version', 'agents: {}\n', 'version must be 1'],
    ['another version', "version: '1'\nagents: {}\n", 'version must be 1'],
    ['no agents', 'version: 1\n', "'agents' is missing"],
    ['agents that are none', 'version: 1\nagents: [a]\n', "'agents' must be a map"],
    ['an empty section', 'version: 1\nagents: { a: }\n', "section 'a' must be a map, not nothing"],
    ['a bad agent name', "version: 1\nagents: { 'A b': {} }\n", "'A b' is no agent name"],
    ['two stars in a name', "version: 1\nagents: { 'a**': {} }\n", "'a**' is no agent name"],
    ['a number as a name', 'version: 1\nagents: { 7: {} }\n', 'is not text'],
    ['the same agent twice', 'version: 1\nagents:\n  a: {}\n  a: {}\n', 'here twice'],
    ['the same rule key twice', withRule('{ match: a:b:c, match: a:b:d, effect: ask }'), 'here twice'],
    ['an anchor', 'version: 1\nagents:\n  a: &x {}\n  b: *x\n', 'Anchors and aliases'],
    ['a merge key', 'version: 1\nagents:\n  a: { <<: { default_ttl: 1m } }\n', "Unknown key '<<'"],
    ['a tag', 'version: 1\nagents: !!map {}\n', 'Tags are not allowed'],
    ['a foreign tag', 'version: 1\nagents: !evil {}\n', 'Unresolved tag'],
    ['a second document', 'version: 1\nagents: {}\n---\nversion: 1\n', 'more than one YAML document'],
    ['broken YAML', 'version: 1\nagents: {\n', 'Not valid YAML'],
    ['a hidden direction mark', 'version: 1\n# \u202edeny\nagents: {}\n', 'invisible character U+202E'],
    ['an escape character', 'version: 1\n# \x1b[2K\nagents: {}\n', 'invisible character U+001B'],
    ['a huge file', `version: 1\nagents: {}\n#${'x'.repeat(262_144)}`, 'larger than'],
    ['endless nesting', `version: 1\nagents: ${'['.repeat(100_000)}`, ''],
    ['a ttl that is none', 'version: 1\nagents: { a: { default_ttl: 1d } }\n', "Invalid ttl '1d'"],
    ['a ttl as a number', 'version: 1\nagents: { a: { default_ttl: 15 } }\n', 'must be text, not the number 15'],
    ['a rate that is none', 'version: 1\nlimits: { rate_limit: 30/d }\nagents: {}\n', "Invalid rate '30/d'"],
    ['bytes below 256', 'version: 1\nlimits: { max_inline_bytes: 255 }\nagents: {}\n', 'at least 256'],
    ['a deny that is no list', "version: 1\nlimits: { deny: 'a:b:c' }\nagents: {}\n", 'must be a list'],
    ['a deny that is no pattern', "version: 1\nlimits: { deny: ['aws'] }\nagents: {}\n", 'fewer than three parts'],
    ['a rule that is text', withRule('x:call:y'), 'a rule must be a map'],
    ['no match', withRule('{ effect: allow }'), "has no 'match'"],
    ['no effect', withRule('{ match: x:call:y }'), 'says nothing about what happens'],
    ['an unknown effect', withRule('{ match: x:call:y, effect: permit }'), 'must be allow, ask or deny'],
    ['auto_approve false alone', withRule('{ match: x:call:y, auto_approve: false }'), 'says nothing about what happens'],
    ['auto_approve as text', withRule("{ match: x:call:y, auto_approve: 'yes' }"), 'must be true or false'],
    ['an unknown requirement', withRule('{ match: x:call:y, require: luck }'), 'knows one value'],
    [
      'ask and auto_approve',
      withRule('{ match: x:call:y, effect: ask, auto_approve: true }'),
      "'effect: ask' contradicts 'auto_approve'",
    ],
    ['deny and auto_approve', withRule('{ match: x:call:y, effect: deny, auto_approve: true }'), 'contradicts'],
    ['allow and auto_approve false', withRule('{ match: x:call:y, effect: allow, auto_approve: false }'), 'contradicts'],
    ['allow and require', withRule('{ match: x:call:y, effect: allow, require: human_approval }'), "contradicts 'require'"],
    ['a deny with a ttl', withRule('{ match: x:call:y, effect: deny, ttl: 5m }'), "no use for 'ttl'"],
    ['a deny with redactions', withRule('{ match: x:call:y, effect: deny, redact: [email] }'), "no use for 'redact'"],
    ['an unknown redaction', withRule('{ match: x:call:y, effect: ask, redact: [names] }'), "'redact' knows"],
    ['an empty guard', withRule('{ match: x:call:y, effect: ask, when: {} }'), 'names no argument'],
    ['a guard on a list', withRule('{ match: x:call:y, effect: ask, when: { a: [1] } }'), 'needs a text, a number, true or false'],
    [
      'a guard on nothing',
      withRule('{ match: x:call:y, effect: ask, when: { a: null } }'),
      'needs a text, a number, true or false',
    ],
    [
      'a guard that is no number JSON has',
      withRule('{ match: x:call:y, effect: ask, when: { a: .nan } }'),
      'needs a text, a number, true or false',
    ],
    [
      'a guard beyond exact numbers',
      withRule('{ match: x:call:y, effect: ask, when: { a: 9007199254740993 } }'),
      'needs a text, a number, true or false',
    ],
    ['a guard with a foreign pattern', withRule("{ match: x:call:y, effect: ask, when: { a: 'x?' } }"), "holds '?'"],
    ['an empty condition', withRule('{ match: x:call:y, effect: ask, annotations: {} }'), 'names no hint'],
    [
      'a hint as text',
      withRule("{ match: x:call:y, effect: ask, annotations: { readOnlyHint: 'true' } }"),
      'must be true or false',
    ],
    [
      'too many rules',
      `version: 1\nagents:\n  a:\n    capabilities:\n${'      - { match: x:call:y, effect: ask }\n'.repeat(2_001)}`,
      'more than 2000',
    ],
  ])('[POL-5] %s', (_name, text, message) => {
    const found = findings(text);
    expect(found.map((one) => one.message).join('\n')).toContain(message);
    expect(found.length).toBeGreaterThan(0);
    expect(found.every(({ line, column }) => line >= 1 && column >= 1)).toBe(true);
  });

  it('[POL-5] points at the place', () => {
    expect(findings(withRule('{ match: x:call:y, effect: ask, ttl: 1d }'))).toEqual([
      {
        line: 5,
        column: 46,
        message: "Invalid ttl '1d' — expected '<n>s', '<n>m' or '<n>h'.",
        hint: 'Write for example 90s, 15m or 2h.',
      },
    ]);
  });

  it('[POL-5] any text at all is read or refused, never thrown on', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.json(),
          fc.string().map((text) => withRule(text)),
        ),
        (text) => {
          const parsed = parsePolicy(text);
          expect(parsed.ok || parsed.findings.length > 0).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });
});
