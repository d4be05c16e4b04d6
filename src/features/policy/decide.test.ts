import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ask, engineOf, rulesEngine } from '../../../test/support/policy-engine.ts';
import type { Engine } from './decide.ts';
import type { PolicyRequest } from './model.ts';

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
    const engine = rulesEngine(
      "match: 'x:call:get_*', effect: allow",
      "match: 'x:call:*', effect: ask",
      "match: 'x:call:put', effect: allow",
    );
    expect(ask(engine, 'x:call:get_a')).toMatchObject({ effect: 'allow', rule: 'x:call:get_*' });
    expect(ask(engine, 'x:call:put')).toMatchObject({ effect: 'ask', rule: 'x:call:*' });
    expect(ask(engine, 'x:call:*')).toMatchObject({ effect: 'ask', rule: 'x:call:*' });
  });

  it('[POL-7] an earlier rule that asks about a part makes the whole ask', () => {
    const engine = rulesEngine("match: 'x:call:deploy', effect: ask", "match: 'x:call:*', effect: allow");
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
    expect(ask(rulesEngine("match: 'x:call:deploy', effect: ask"), 'x:call:*')).toMatchObject({ code: 'no_rule' });
    expect(ask(rulesEngine("match: 'x:call:a', effect: allow", "match: 'x:call:b', effect: allow"), 'x:call:*')).toMatchObject({
      code: 'no_rule',
    });
  });

  it('[POL-7] a later rule that asks about a part leaves the earlier decision', () => {
    expect(ask(rulesEngine("match: 'x:call:*', effect: allow", "match: 'x:call:a', effect: ask"), 'x:call:*')).toMatchObject({
      effect: 'allow',
    });
  });

  it('[POL-7] built-in last rules ask about secrets and upstreams, and only an explicit rule lifts them', () => {
    const engine = rulesEngine("match: 'x:call:*', effect: allow");
    expect(ask(engine, 'vault:inject:token')).toMatchObject({ effect: 'ask', rule: 'vault:inject:*' });
    expect(ask(engine, 'sallyport:register:grafana')).toMatchObject({ effect: 'ask', rule: 'sallyport:register:*' });
    expect(ask(engine, 'vault:read:token')).toMatchObject({ code: 'no_rule' });
    expect(ask(rulesEngine("match: 'vault:inject:token', effect: allow"), 'vault:inject:token')).toMatchObject({ effect: 'allow' });
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
        const engine = rulesEngine(
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
    expect(ask(rulesEngine("match: 'x:call:*', effect: allow"), 'x:call:a')).toMatchObject({ ttlMs: 900_000 });
  });

  it('[GRANT-2] one that is none is refused, also where the answer is remembered, and a deny still comes first', () => {
    const engine = rulesEngine("match: 'x:call:*', effect: allow", "match: 'x:call:no', effect: deny");
    for (let round = 0; round < 2; round += 1) {
      expect(ask(engine, 'x:call:a', { requestedTtl: '1d' })).toMatchObject({ code: 'invalid_ttl', hard: false });
      expect(ask(engine, 'x:call:a', { requestedTtlMs: 0 })).toMatchObject({ code: 'invalid_ttl' });
      expect(ask(engine, 'x:call:a', { requestedTtlMs: Number.NaN })).toMatchObject({ code: 'invalid_ttl' });
      expect(ask(engine, 'x:call:no', { requestedTtl: '1d' })).toMatchObject({ code: 'ceiling_blocked' });
      expect(ask(engine, 'x:call:a')).toMatchObject({ effect: 'allow', ttlMs: 900_000 });
    }
  });
});

describe('speed', () => {
  const many = rulesEngine(
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
