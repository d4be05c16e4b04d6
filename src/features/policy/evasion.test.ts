import { describe, expect, it } from 'vitest';
import { ask, engineOf, rulesEngine } from '../../../test/support/policy-engine.ts';
import { parsePolicy } from './file.ts';

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
    const narrow = rulesEngine("match: 'a:*:production', effect: allow");
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
      const both = rulesEngine(...order);
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
    expect(rulesEngine("match: 'x:call:y', effect: allow").agent('kimi').limits).toEqual({
      maxTtlMs: undefined,
      deny: [],
      rate: { count: 30, perMs: 60_000, text: '30/m' },
      approvalTtlMs: 600_000,
      maxLeaseTotalMs: 14_400_000,
      maxInlineBytes: 16_384,
    });
  });
});
