import { describe, expect, it } from 'vitest';
import { ask, rulesEngine } from '../../../test/support/policy-engine.ts';

describe('redactions and guards', () => {
  const engine = rulesEngine(
    "match: 'x:call:send', effect: allow, when: { to: 'team/*', urgent: false, n: 1 }, redact: [email]",
    "match: 'x:call:*', effect: ask, redact: [card]",
    "match: '*:*:*', effect: allow, redact: [pii]",
  );

  it('[POL-10] redactions of all covering rules are united', () => {
    expect(ask(engine, 'x:call:a', { args: {} })).toMatchObject({ redact: ['email', 'phone', 'card', 'aws_access_key'] });
    const two = rulesEngine(
      "match: 'x:call:*', effect: allow, redact: [phone]",
      "match: 'x:call:a', effect: allow, redact: [email]",
    );
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
    const proto = rulesEngine("match: 'x:call:a', effect: allow, when: { toString: '*' }", "match: 'x:call:a', effect: ask");
    expect(ask(proto, 'x:call:a', { args: {} })).toMatchObject({ effect: 'ask' });
    const own = rulesEngine('match: "x:call:a", effect: allow, when: { __proto__: y }');
    expect(ask(own, 'x:call:a', { args: {} })).toMatchObject({ code: 'no_rule' });
    expect(ask(own, 'x:call:a', { args: JSON.parse('{"__proto__":"y"}') as Record<string, string> })).toMatchObject({
      effect: 'allow',
    });
  });

  it('[POL-10] without arguments the guard is carried, so that an explicit request is not worse off than the call', () => {
    expect(ask(engine, 'x:call:send')).toMatchObject({ effect: 'allow', guards: [{ to: 'team/*', urgent: false, n: 1 }] });
  });

  it('[POL-10] a decomposed spelling is the same text', () => {
    const cafe = rulesEngine("match: 'x:call:a', effect: deny, when: { path: '/café/*' }", "match: 'x:call:a', effect: allow");
    expect(ask(cafe, 'x:call:a', { args: { path: '/cafe\u0301/x' } })).toMatchObject({ code: 'ceiling_blocked' });
  });

  it('[POL-10] a guarded deny bites on its arguments and does not hide the tool', () => {
    const guarded = rulesEngine(
      "match: 'git:call:push', effect: deny, when: { branch: main }",
      "match: 'git:call:push', effect: allow",
    );
    expect(ask(guarded, 'git:call:push', { args: { branch: 'main' } })).toMatchObject({ code: 'ceiling_blocked', hard: true });
    expect(ask(guarded, 'git:call:push', { args: { branch: 'dev' } })).toMatchObject({ effect: 'allow' });
    expect(ask(guarded, 'git:call:push')).toMatchObject({ effect: 'allow' });
  });

  it('[POL-10] a call is decided on one literal, never on a pattern', () => {
    expect(ask(rulesEngine("match: 'x:call:*', effect: allow"), 'x:call:*', { args: {} })).toMatchObject({
      code: 'invalid_capability',
    });
  });
});

describe('conditions on annotations', () => {
  const engine = rulesEngine(
    "match: '*:call:*', effect: allow, annotations: { readOnlyHint: true }",
    "match: '*:call:*', effect: ask",
  );

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
      expect(ask(rulesEngine(`match: '*:call:*', effect: allow, annotations: { ${condition} }`), 'x:call:a')).toMatchObject({
        code: 'no_rule',
      });
    }
  });

  it('[POL-10] a conditional rule never covers a pattern request, but may make it ask or deny it', () => {
    const only = rulesEngine("match: '*:call:*', effect: allow, annotations: { readOnlyHint: true }");
    expect(ask(only, 'x:call:*', { annotations: { readOnlyHint: true } })).toMatchObject({ code: 'no_rule' });
    const asks = rulesEngine(
      "match: '*:call:*', effect: ask, annotations: { destructiveHint: true }",
      "match: '*:call:*', effect: allow",
    );
    expect(ask(asks, 'x:call:*')).toMatchObject({ effect: 'ask' });
    expect(ask(asks, 'x:call:a', { annotations: { destructiveHint: false } })).toMatchObject({ effect: 'allow' });
    const denies = rulesEngine(
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
      const one = rulesEngine(`match: 'x:call:a', effect: allow, annotations: { ${hint}: ${wanted} }`);
      expect(ask(one, 'x:call:a', { annotations }).effect).toBe(wanted === value ? 'allow' : 'deny');
    }
  });

  it('[POL-10] a tool is all that annotations are about', () => {
    const read = rulesEngine("match: 'x:*:*', effect: allow, annotations: { readOnlyHint: true }");
    expect(ask(read, 'x:read:a', { annotations: { readOnlyHint: true } })).toMatchObject({ code: 'no_rule' });
  });
});
