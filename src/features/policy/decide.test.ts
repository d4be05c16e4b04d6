import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEngine, type Engine } from './decide.ts';
import { parsePolicy } from './file.ts';
import type { PolicyRequest, Verdict } from './model.ts';

const engineOf = (text: string): Engine => {
  const parsed = parsePolicy(text);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.findings));
  return createEngine(parsed.file);
};

const ask = (engine: Engine, capability: string, more: Partial<PolicyRequest> = {}): Verdict =>
  engine.decide({ agent: 'kimi', capability, ...more });

const rules = (...lines: string[]): Engine =>
  engineOf(`version: 1\nagents:\n  '*':\n    capabilities:\n${lines.map((line) => `      - { ${line} }`).join('\n')}\n`);

describe('the words of a verdict', () => {
  const engine = engineOf(`
version: 1
limits: { deny: ['aws:*:production'] }
agents:
  kimi:
    capabilities:
      - { match: 'fakegit:call:whoami', effect: allow, ttl: 10m }
      - { match: 'aws:deploy:*', effect: ask }
`);

  it('are those of the gate contract', () => {
    expect(ask(engine, 'fakegit:call:whoami')).toEqual({
      effect: 'allow',
      rule: 'fakegit:call:whoami',
      ttlMs: 600_000,
      redact: [],
      guards: [],
      reason: "Auto-approved by rule 'fakegit:call:whoami'.",
    });
    expect(ask(engine, 'aws:deploy:prod')).toMatchObject({
      effect: 'ask',
      rule: 'aws:deploy:*',
      ttlMs: 900_000,
      reason: "Capability 'aws:deploy:prod' matches 'aws:deploy:*' which requires human approval.",
    });
    expect(ask(engine, 'stripe:write:*')).toEqual({
      effect: 'deny',
      code: 'no_rule',
      hard: false,
      reason: "No auto_approve rule matches 'stripe:write:*' for agent 'kimi'.",
    });
    expect(ask(engine, 'aws:write:production')).toMatchObject({
      effect: 'deny',
      code: 'ceiling_blocked',
      hard: true,
      rule: 'aws:*:production',
    });
    expect(engine.decide({ agent: 'other', capability: 'fakegit:call:whoami' })).toMatchObject({ code: 'no_policy', hard: false });
  });

  it('a deny answers the same with and without a section', () => {
    expect(engine.decide({ agent: 'other', capability: 'aws:write:production' })).toEqual(ask(engine, 'aws:write:production'));
  });
});

describe('agent-supplied patterns and denies (W2)', () => {
  const engine = engineOf(`
version: 1
limits: { deny: ['aws:*:production'] }
agents:
  '*':
    capabilities:
      - { match: 'github:call:get_*', effect: allow }
      - { match: '*:call:{get_*,list_*}', effect: allow }
      - { match: 'aws:*:*', effect: allow }
      - { match: 'fs:read:*', effect: allow }
`);

  it.each([
    ['alternatives joined by a pipe', 'github:call:get_{x,y}|github:call:delete_repo'],
    ['a pipe and a star', 'github:call:get_{x,y}|*'],
    ['alternatives across parts', '{github:call:delete_repo,x:call:get_y}'],
    ['a leading negation', '!x:call:get_y'],
    ['an extglob', 'github:call:@(get_x|delete_repo)'],
    ['a group', 'github:call:(get_x|delete_repo)'],
    ['a class', 'github:call:get_[xy]'],
    ['a single-character wildcard', 'github:call:get_?'],
    ['an escape', 'github:call:get_\\x'],
    ['a star inside', 'github:call:get_*_or_*'],
    ['a prefix star in the upstream', 'git*:call:get_x'],
  ])('[POL-3] %s is no capability at all', (_name, capability) => {
    expect(ask(engine, capability)).toMatchObject({ effect: 'deny', code: 'invalid_capability' });
  });

  it.each([
    ['the denied text itself', 'aws:deploy:production'],
    ['a pattern that includes the denied', 'aws:*:prod*'],
    ['a whole-part star beside it', 'aws:*:production'],
    ['every resource', 'aws:deploy:*'],
    ['every upstream', '*:deploy:production'],
    ['everything', '*:*:*'],
  ])('[POL-3] a deny is not evaded by asking for %s', (_name, capability) => {
    expect(ask(engine, capability)).toMatchObject({ effect: 'deny', code: 'ceiling_blocked', hard: true });
  });

  it.each([
    ['deny crosses slashes', 'aws:*:*production', 'aws:deploy:eu/production'],
    ['deny crosses colons', 'aws:*:*', 'aws:deploy:a:b:c'],
    ['deny covers dot files', 'fs:read:*', 'fs:read:dir/.env'],
    ['deny of an upstream covers org/repo', 'github:*:*', 'github:write:org/repo'],
  ])('[POL-3] %s', (_name, deny, capability) => {
    const strict = engineOf(
      `version: 1\nlimits: { deny: ['${deny}'] }\nagents: { '*': { capabilities: [{ match: '*:*:*', effect: allow }] } }\n`,
    );
    expect(ask(strict, capability)).toMatchObject({ code: 'ceiling_blocked' });
  });

  it('[POL-3] a deny with a backslash star, which denies nothing real, does not load', () => {
    expect(parsePolicy("version: 1\nlimits: { deny: ['\\*:*'] }\nagents: {}\n").ok).toBe(false);
  });

  it('[POL-3] a star in a part stays in that part', () => {
    const narrow = rules("match: 'a:*:production', effect: allow");
    expect(ask(narrow, 'a:b:c:production')).toMatchObject({ code: 'no_rule' });
    expect(ask(narrow, 'a:b:production')).toMatchObject({ effect: 'allow' });
  });

  it('[POL-3] a read-only rule gives the read-only tools and nothing else', () => {
    expect(ask(engine, 'github:call:get_x')).toMatchObject({ effect: 'allow' });
    for (const capability of ['github:call:delete_repo', 'github:call:*', 'github:*:get_x', 'x:call:delete', 'github:call:g*']) {
      expect(ask(engine, capability)).toMatchObject({ effect: 'deny' });
    }
    expect(ask(engine, 'github:call:get_*')).toMatchObject({ effect: 'allow' });
  });
});

describe('order, union and ceilings (W7)', () => {
  const engine = engineOf(`
version: 1
limits: { deny: ['aws:*:*'], max_ttl: 30m, rate_limit: 20/m, approval_ttl: 5m, max_inline_bytes: 1024 }
agents:
  kimi:
    limits: { deny: ['gcp:*:*'], max_ttl: 2h, rate_limit: 100/m, approval_ttl: 1h, max_inline_bytes: 4096 }
    capabilities:
      - { match: '*:*:*', effect: allow, ttl: 4h }
`);

  it("[POL-4] an agent's denies add to the global ones, they do not replace them", () => {
    expect(ask(engine, 'aws:read:x')).toMatchObject({ code: 'ceiling_blocked' });
    expect(ask(engine, 'gcp:read:x')).toMatchObject({ code: 'ceiling_blocked' });
    expect(engine.agent('kimi').limits.deny).toEqual(['aws:*:*', 'gcp:*:*']);
  });

  it('[POL-4] no section raises a global ceiling', () => {
    expect(ask(engine, 'x:call:y')).toMatchObject({ effect: 'allow', ttlMs: 1_800_000 });
    expect(ask(engine, 'x:call:y', { requestedTtl: '3h' })).toMatchObject({ ttlMs: 1_800_000 });
    expect(engine.agent('kimi').limits).toMatchObject({ maxTtlMs: 1_800_000, approvalTtlMs: 300_000, maxInlineBytes: 1_024 });
    expect(engine.agent('kimi').limits.rate).toEqual({ count: 20, perMs: 60_000, text: '20/m' });
  });

  it('[POL-4] a deny beats any rule, wherever it stands and whatever the rule says', () => {
    for (const order of [
      ["match: 'x:call:*', effect: allow", "match: 'x:call:drop', effect: deny"],
      ["match: 'x:call:drop', effect: deny", "match: 'x:call:*', effect: allow"],
      ["match: 'x:call:drop', effect: ask", "match: 'x:call:drop', effect: deny"],
    ]) {
      const both = rules(...order);
      expect(ask(both, 'x:call:drop')).toMatchObject({ effect: 'deny', code: 'ceiling_blocked', hard: true, rule: 'x:call:drop' });
      expect(ask(both, 'x:call:*')).toMatchObject({ code: 'ceiling_blocked' });
    }
  });

  it('[POL-4] nothing falls through: a rule has an effect or the file does not load', () => {
    expect(parsePolicy("version: 1\nagents: { a: { capabilities: [{ match: 'x:call:y' }] } }\n").ok).toBe(false);
    expect(parsePolicy("version: 1\nagents: { a: { capabilities: [{ match: 'x:call:y', auto_approve: false }] } }\n").ok).toBe(
      false,
    );
  });

  it('[POL-4] limits without any statement are the defaults of the gate contract', () => {
    expect(rules("match: 'x:call:y', effect: allow").agent('kimi').limits).toEqual({
      maxTtlMs: undefined,
      deny: [],
      rate: { count: 30, perMs: 60_000, text: '30/m' },
      approvalTtlMs: 600_000,
      maxLeaseTotalMs: 14_400_000,
      maxInlineBytes: 16_384,
    });
  });
});

describe('sections', () => {
  const engine = engineOf(`
version: 1
agents:
  '*':
    limits: { deny: ['a:call:*'], max_ttl: 1h }
    capabilities: [{ match: 'x:call:star', effect: allow }, { match: 'd:call:*', effect: deny }]
  'ci-*':
    limits: { deny: ['b:call:*'], max_ttl: 20m }
    capabilities: [{ match: 'x:call:ci', effect: allow }, { match: 'e:call:*', effect: deny }]
  'ci-deploy-*':
    capabilities: [{ match: 'x:call:deploy', effect: allow, ttl: 1h }]
  ci-deploy-eu:
    limits: { deny: ['c:call:*'] }
    capabilities: [{ match: 'x:call:eu', effect: allow, ttl: 1h }]
`);
  const allowed = (agent: string): string[] =>
    ['star', 'ci', 'deploy', 'eu'].filter((tool) => engine.decide({ agent, capability: `x:call:${tool}` }).effect === 'allow');

  it('[POL-6] rules come from the exact id, else the longest glob, else *', () => {
    expect(allowed('kimi')).toEqual(['star']);
    expect(allowed('ci-build')).toEqual(['ci']);
    expect(allowed('ci-deploy-us')).toEqual(['deploy']);
    expect(allowed('ci-deploy-eu')).toEqual(['eu']);
  });

  it('[POL-6] denies of both kinds and limits come from every section that matches', () => {
    for (const upstream of ['a', 'b', 'c', 'd', 'e']) {
      expect(engine.decide({ agent: 'ci-deploy-eu', capability: `${upstream}:call:x` })).toMatchObject({ code: 'ceiling_blocked' });
    }
    expect(engine.decide({ agent: 'kimi', capability: 'b:call:x' })).toMatchObject({ code: 'no_rule' });
    expect(engine.decide({ agent: 'ci-deploy-eu', capability: 'x:call:eu' })).toMatchObject({ ttlMs: 1_200_000 });
  });

  it('[POL-6] the order of sections in the file decides nothing', () => {
    const twin = (first: string, second: string): Engine =>
      engineOf(
        `version: 1\nagents:\n${[first, second].map((id) => `  '${id}': { capabilities: [{ match: 'x:call:${id.replaceAll('*', 's')}', effect: allow }] }`).join('\n')}\n`,
      );
    for (const engine of [twin('a*', '*b'), twin('*b', 'a*')]) {
      expect(engine.decide({ agent: 'ab', capability: 'x:call:sb' })).toMatchObject({ effect: 'allow' });
      expect(engine.decide({ agent: 'ab', capability: 'x:call:as' })).toMatchObject({ effect: 'deny' });
    }
  });
});

describe('which rule decides', () => {
  it('[POL-7] the first that covers all of a request decides', () => {
    const engine = rules(
      "match: 'x:call:get_*', effect: allow",
      "match: 'x:call:*', effect: ask",
      "match: 'x:call:put', effect: allow",
    );
    expect(ask(engine, 'x:call:get_a')).toMatchObject({ effect: 'allow', rule: 'x:call:get_*' });
    expect(ask(engine, 'x:call:put')).toMatchObject({ effect: 'ask', rule: 'x:call:*' });
    expect(ask(engine, 'x:call:*')).toMatchObject({ effect: 'ask', rule: 'x:call:*' });
  });

  it('[POL-7] an earlier rule that asks about a part makes the whole ask', () => {
    const engine = rules("match: 'x:call:deploy', effect: ask", "match: 'x:call:*', effect: allow");
    expect(ask(engine, 'x:call:*')).toMatchObject({
      effect: 'ask',
      rule: 'x:call:deploy',
      reason: "Capability 'x:call:*' matches 'x:call:deploy' which requires human approval.",
    });
    expect(ask(engine, 'x:call:d*')).toMatchObject({ effect: 'ask' });
    expect(ask(engine, 'x:call:get*')).toMatchObject({ effect: 'allow' });
    expect(ask(engine, 'x:call:get')).toMatchObject({ effect: 'allow' });
  });

  it('[POL-7] an earlier question about a part is not enough where no rule covers all of it', () => {
    expect(ask(rules("match: 'x:call:deploy', effect: ask"), 'x:call:*')).toMatchObject({ code: 'no_rule' });
    expect(ask(rules("match: 'x:call:a', effect: allow", "match: 'x:call:b', effect: allow"), 'x:call:*')).toMatchObject({
      code: 'no_rule',
    });
  });

  it('[POL-7] a later rule that asks about a part leaves the earlier decision', () => {
    expect(ask(rules("match: 'x:call:*', effect: allow", "match: 'x:call:a', effect: ask"), 'x:call:*')).toMatchObject({
      effect: 'allow',
    });
  });

  it('[POL-7] built-in last rules ask about secrets and upstreams, and only an explicit rule lifts them', () => {
    const engine = rules("match: 'x:call:*', effect: allow");
    expect(ask(engine, 'vault:inject:token')).toMatchObject({ effect: 'ask', rule: 'vault:inject:*' });
    expect(ask(engine, 'sallyport:register:grafana')).toMatchObject({ effect: 'ask', rule: 'sallyport:register:*' });
    expect(ask(engine, 'vault:read:token')).toMatchObject({ code: 'no_rule' });
    expect(ask(rules("match: 'vault:inject:token', effect: allow"), 'vault:inject:token')).toMatchObject({ effect: 'allow' });
    expect(engineOf('version: 1\nagents: {}\n').decide({ agent: 'kimi', capability: 'vault:inject:x' })).toMatchObject({
      code: 'no_policy',
    });
  });

  it('[POL-7] deny, then the first that covers: the engine agrees with a plain reading of the invariant', () => {
    const part = fc.constantFrom('a', 'b', '*');
    const text = fc.tuple(part, fc.constantFrom('call', '*'), fc.constantFrom('x', 'y', 'x*', '*')).map((parts) => parts.join(':'));
    const rule = fc.tuple(text, fc.constantFrom('allow', 'ask', 'deny'));
    // Enough literals to tell every two of these patterns apart.
    const literals = ['a', 'b', 'c'].flatMap((upstream) =>
      ['call', 'read'].flatMap((action) => ['x', 'xx', 'y', 'z'].map((resource) => [upstream, action, resource])),
    );
    const members = (pattern: string): Set<string> => {
      const parts = pattern.split(':').map((segment) => new RegExp(`^${segment.replace('*', '.*')}$`));
      return new Set(
        literals.filter((literal) => literal.every((segment, at) => parts[at]?.test(segment))).map((literal) => literal.join(':')),
      );
    };
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 5 }), text, (list, request) => {
        const wanted = members(request);
        const touching = list.map(([pattern, effect]) => ({
          effect,
          hit: [...wanted].filter((literal) => members(pattern).has(literal)).length,
        }));
        const expected = (): string => {
          if (touching.some(({ effect, hit }) => effect === 'deny' && hit > 0)) return 'deny';
          const first = touching.findIndex(({ effect, hit }) => effect !== 'deny' && hit === wanted.size);
          if (first < 0) return 'deny';
          return touching.slice(0, first + 1).some(({ effect, hit }) => effect === 'ask' && hit > 0) ? 'ask' : 'allow';
        };
        const engine = rules(
          ...list.map(([match, effect]) => `match: '${match}', effect: ${effect}`),
          "match: 'none:call:none', effect: allow",
        );
        expect(ask(engine, request).effect).toBe(expected());
      }),
      { numRuns: 800 },
    );
  });
});

describe('ttl', () => {
  it('[GRANT-2] is the least of request, deciding rule or default, every rule about any part, and max_ttl', () => {
    const engine = engineOf(`
version: 1
limits: { max_ttl: 50m }
agents:
  '*':
    default_ttl: 20m
    capabilities:
      - { match: 'x:call:a', effect: allow, ttl: 40m }
      - { match: 'x:call:b', effect: allow }
      - { match: 'x:call:c', effect: allow, ttl: 2h }
      - { match: 'x:call:*', effect: ask, ttl: 45m }
      - { match: 'y:call:*', effect: allow, ttl: 30m }
      - { match: 'y:call:risky', effect: ask, ttl: 1m }
`);
    expect(ask(engine, 'x:call:a')).toMatchObject({ ttlMs: 40 * 60_000 });
    expect(ask(engine, 'x:call:b')).toMatchObject({ ttlMs: 20 * 60_000 });
    expect(ask(engine, 'x:call:c')).toMatchObject({ ttlMs: 45 * 60_000 });
    expect(ask(engine, 'x:call:d')).toMatchObject({ effect: 'ask', ttlMs: 45 * 60_000 });
    expect(ask(engine, 'y:call:risky')).toMatchObject({ effect: 'allow', ttlMs: 60_000 });
    expect(ask(engine, 'y:call:*')).toMatchObject({ ttlMs: 60_000 });
    expect(ask(engine, 'x:call:a', { requestedTtl: '5m' })).toMatchObject({ ttlMs: 300_000 });
    expect(ask(engine, 'x:call:a', { requestedTtl: '5h' })).toMatchObject({ ttlMs: 40 * 60_000 });
    expect(ask(engine, 'x:call:a', { requestedTtlMs: 1_000 })).toMatchObject({ ttlMs: 1_000 });
  });

  it('[GRANT-2] is 15 minutes where nobody says', () => {
    expect(ask(rules("match: 'x:call:*', effect: allow"), 'x:call:a')).toMatchObject({ ttlMs: 900_000 });
  });

  it('[GRANT-2] one that is none is refused, also where the answer is remembered, and a deny still comes first', () => {
    const engine = rules("match: 'x:call:*', effect: allow", "match: 'x:call:no', effect: deny");
    for (let round = 0; round < 2; round += 1) {
      expect(ask(engine, 'x:call:a', { requestedTtl: '1d' })).toMatchObject({ code: 'invalid_ttl', hard: false });
      expect(ask(engine, 'x:call:a', { requestedTtlMs: 0 })).toMatchObject({ code: 'invalid_ttl' });
      expect(ask(engine, 'x:call:a', { requestedTtlMs: Number.NaN })).toMatchObject({ code: 'invalid_ttl' });
      expect(ask(engine, 'x:call:no', { requestedTtl: '1d' })).toMatchObject({ code: 'ceiling_blocked' });
      expect(ask(engine, 'x:call:a')).toMatchObject({ effect: 'allow', ttlMs: 900_000 });
    }
  });
});

describe('redactions and guards', () => {
  const engine = rules(
    "match: 'x:call:send', effect: allow, when: { to: 'team/*', urgent: false, n: 1 }, redact: [email]",
    "match: 'x:call:*', effect: ask, redact: [card]",
    "match: '*:*:*', effect: allow, redact: [pii]",
  );

  it('[POL-10] redactions of all covering rules are united', () => {
    expect(ask(engine, 'x:call:a', { args: {} })).toMatchObject({ redact: ['email', 'phone', 'card', 'aws_access_key'] });
    const two = rules("match: 'x:call:*', effect: allow, redact: [phone]", "match: 'x:call:a', effect: allow, redact: [email]");
    expect(ask(two, 'x:call:a')).toMatchObject({ redact: ['email', 'phone'] });
    expect(ask(two, 'x:call:b')).toMatchObject({ redact: ['phone'] });
  });

  it.each([
    [{ to: 'team/a', urgent: false, n: 1 }, 'allow'],
    [{ to: 'team/a/b:c', urgent: false, n: 1, more: 'x' }, 'allow'],
    [{ to: 'team/', urgent: false, n: 1 }, 'allow'],
    [{ to: 'other', urgent: false, n: 1 }, 'ask'],
    [{ to: 'Team/a', urgent: false, n: 1 }, 'ask'],
    [{ to: ['team/a'], urgent: false, n: 1 }, 'ask'],
    [{ to: 'team/a', urgent: 'false', n: 1 }, 'ask'],
    [{ to: 'team/a', urgent: false, n: '1' }, 'ask'],
    [{ to: 'team/a', urgent: false }, 'ask'],
    [{ to: null, urgent: false, n: 1 }, 'ask'],
    [{}, 'ask'],
  ])('[POL-10] with arguments %j the guarded rule is tested whole: %s', (args, effect) => {
    expect(ask(engine, 'x:call:send', { args })).toMatchObject({ effect, guards: [] });
  });

  it('[POL-10] inherited members are no arguments', () => {
    const proto = rules("match: 'x:call:a', effect: allow, when: { toString: '*' }", "match: 'x:call:a', effect: ask");
    expect(ask(proto, 'x:call:a', { args: {} })).toMatchObject({ effect: 'ask' });
    const own = rules('match: "x:call:a", effect: allow, when: { __proto__: y }');
    expect(ask(own, 'x:call:a', { args: {} })).toMatchObject({ code: 'no_rule' });
    expect(ask(own, 'x:call:a', { args: JSON.parse('{"__proto__":"y"}') as Record<string, string> })).toMatchObject({
      effect: 'allow',
    });
  });

  it('[POL-10] without arguments the guard is carried, so that an explicit request is not worse off than the call', () => {
    expect(ask(engine, 'x:call:send')).toMatchObject({ effect: 'allow', guards: [{ to: 'team/*', urgent: false, n: 1 }] });
  });

  it('[POL-10] a decomposed spelling is the same text', () => {
    const cafe = rules("match: 'x:call:a', effect: deny, when: { path: '/café/*' }", "match: 'x:call:a', effect: allow");
    expect(ask(cafe, 'x:call:a', { args: { path: '/cafe\u0301/x' } })).toMatchObject({ code: 'ceiling_blocked' });
  });

  it('[POL-10] a guarded deny bites on its arguments and does not hide the tool', () => {
    const guarded = rules("match: 'git:call:push', effect: deny, when: { branch: main }", "match: 'git:call:push', effect: allow");
    expect(ask(guarded, 'git:call:push', { args: { branch: 'main' } })).toMatchObject({ code: 'ceiling_blocked', hard: true });
    expect(ask(guarded, 'git:call:push', { args: { branch: 'dev' } })).toMatchObject({ effect: 'allow' });
    expect(ask(guarded, 'git:call:push')).toMatchObject({ effect: 'allow' });
  });

  it('[POL-10] a call is decided on one literal, never on a pattern', () => {
    expect(ask(rules("match: 'x:call:*', effect: allow"), 'x:call:*', { args: {} })).toMatchObject({ code: 'invalid_capability' });
  });
});

describe('conditions on annotations', () => {
  const engine = rules("match: '*:call:*', effect: allow, annotations: { readOnlyHint: true }", "match: '*:call:*', effect: ask");

  it.each([
    [{ readOnlyHint: true }, 'allow'],
    [{ readOnlyHint: true, destructiveHint: true }, 'allow'],
    [{ readOnlyHint: false }, 'ask'],
    [{}, 'ask'],
    [{ destructiveHint: false }, 'ask'],
  ])('[POL-10] an accepted definition with %j: %s', (annotations, effect) => {
    expect(ask(engine, 'x:call:a', { annotations })).toMatchObject({ effect });
    expect(ask(engine, 'x:call:a', { annotations, args: {} })).toMatchObject({ effect });
  });

  it('[POL-10] nothing known about a tool is never good for a permission', () => {
    expect(ask(engine, 'x:call:a')).toMatchObject({ effect: 'ask' });
    for (const condition of ['readOnlyHint: false', 'destructiveHint: true', 'openWorldHint: true', 'idempotentHint: false']) {
      expect(ask(rules(`match: '*:call:*', effect: allow, annotations: { ${condition} }`), 'x:call:a')).toMatchObject({
        code: 'no_rule',
      });
    }
  });

  it('[POL-10] a conditional rule never covers a pattern request, but may make it ask or deny it', () => {
    const only = rules("match: '*:call:*', effect: allow, annotations: { readOnlyHint: true }");
    expect(ask(only, 'x:call:*', { annotations: { readOnlyHint: true } })).toMatchObject({ code: 'no_rule' });
    const asks = rules(
      "match: '*:call:*', effect: ask, annotations: { destructiveHint: true }",
      "match: '*:call:*', effect: allow",
    );
    expect(ask(asks, 'x:call:*')).toMatchObject({ effect: 'ask' });
    expect(ask(asks, 'x:call:a', { annotations: { destructiveHint: false } })).toMatchObject({ effect: 'allow' });
    const denies = rules(
      "match: '*:call:*', effect: deny, annotations: { destructiveHint: true }",
      "match: '*:*:*', effect: allow",
    );
    expect(ask(denies, 'x:call:*')).toMatchObject({ code: 'ceiling_blocked' });
    expect(ask(denies, '*:*:*')).toMatchObject({ code: 'ceiling_blocked' });
    expect(ask(denies, 'x:call:unknown')).toMatchObject({ code: 'ceiling_blocked' });
    expect(ask(denies, 'x:read:unknown')).toMatchObject({ effect: 'allow' });
  });

  it.each([
    ['readOnlyHint', {}, false],
    ['destructiveHint', {}, true],
    ['idempotentHint', {}, false],
    ['openWorldHint', {}, true],
    ['destructiveHint', { readOnlyHint: true }, false],
    ['idempotentHint', { readOnlyHint: true }, true],
    ['openWorldHint', { readOnlyHint: true }, true],
    ['destructiveHint', { readOnlyHint: true, destructiveHint: true }, true],
  ])('[POL-10] an absent %s of %j reads as %s', (hint, annotations, value) => {
    for (const wanted of [true, false]) {
      const one = rules(`match: 'x:call:a', effect: allow, annotations: { ${hint}: ${wanted} }`);
      expect(ask(one, 'x:call:a', { annotations }).effect).toBe(wanted === value ? 'allow' : 'deny');
    }
  });

  it('[POL-10] a tool is all that annotations are about', () => {
    const read = rules("match: 'x:*:*', effect: allow, annotations: { readOnlyHint: true }");
    expect(ask(read, 'x:read:a', { annotations: { readOnlyHint: true } })).toMatchObject({ code: 'no_rule' });
  });
});

describe('speed', () => {
  const many = rules(
    ...Array.from({ length: 1_500 }, (_, at) => `match: 'u${at}:call:{get_*,list_*}', effect: allow`),
    "match: '*:call:*', effect: ask",
  );

  it('[POL-1] a remembered call costs about a microsecond, whatever the number of rules', () => {
    const request: PolicyRequest = { agent: 'kimi', capability: 'u700:call:get_x', args: { a: 1 }, annotations: {} };
    many.decide(request);
    const startedAt = performance.now();
    for (let round = 0; round < 100_000; round += 1) many.decide(request);
    expect(performance.now() - startedAt).toBeLessThan(500);
    expect(many.decide(request)).toBe(many.decide(request));
  });

  it('[POL-1] ever new names stay cheap and fill nothing up', () => {
    const startedAt = performance.now();
    for (let round = 0; round < 20_000; round += 1) many.decide({ agent: 'kimi', capability: `u700:call:n${round}` });
    for (let round = 0; round < 3_000; round += 1)
      expect(many.decide({ agent: `a${round}`, capability: 'bad' }).effect).toBe('deny');
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });
});
