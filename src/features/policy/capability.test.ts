import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../kernel/errors.ts';
import { covers, meets, parseCapability, type Capability } from './capability.ts';
import { parsePattern } from './pattern.ts';

const refusal = (parse: () => unknown): AppError => {
  try {
    parse();
  } catch (thrown) {
    if (thrown instanceof AppError) return thrown;
    throw thrown;
  }
  throw new Error('nothing was refused');
};

const attempted = (text: string): Capability | AppError => {
  try {
    return parseCapability(text);
  } catch (thrown) {
    return thrown instanceof AppError ? thrown : new AppError('internal', 'unexpected', String(thrown));
  }
};

describe('what an agent may ask for', () => {
  it.each([
    'github:call:get_issue',
    'github:write:org/repo',
    'fs:read:file:///home/a b/.env',
    'npm:call:@scope/pkg',
    'x:call:résumé',
    'a_b-c_:do-it:x',
    'github:call:*',
    'github:call:get_*',
    'github:write:org/*',
    'aws:*:production',
    '*:call:whoami',
    '*:*:*',
    'aws:*:prod*',
  ])('accepts %s', (text) => {
    expect(parseCapability(text)).toMatchObject({ text, literal: !text.includes('*') });
  });

  it.each([
    ['', 'empty'],
    ['github', 'fewer than three parts'],
    ['github:*', 'fewer than three parts'],
    ['github:call:', 'resource is empty'],
    [':call:x', 'no name of an upstream'],
    ['Github:call:x', 'no name of an upstream'],
    ['a__b:call:x', 'no name of an upstream'],
    ['-a:call:x', 'no name of an upstream'],
    ['a:Call:x', 'no name of an action'],
    ['a:1:x', 'no name of an action'],
    ['a::x', 'no name of an action'],
    ['git*:call:x', 'mixes'],
    ['git:c*l:x', 'mixes'],
    ['git:call:a*b', 'not its last character'],
    ['git:call:*a', 'not its last character'],
    ['git:call:**', 'not its last character'],
    [`a:call:${'x'.repeat(513)}`, 'longer than 512'],
    [`${'a'.repeat(65)}:call:x`, 'longer than 64'],
    ['a:call:x ', 'begins or ends with a space'],
    [' a:call:x', 'begins or ends with a space'],
  ])('[POL-2] refuses %s', (text, message) => {
    expect(refusal(() => parseCapability(text))).toMatchObject({
      kind: 'invalid',
      code: 'policy.bad_capability',
      message: expect.stringContaining(message) as unknown,
      hint: expect.any(String) as unknown,
    });
  });

  it.each(['?', '[', ']', '!', '(', ')', '|', '^', '$', '\\', '{', '}'])(
    '[POL-2] refuses the metacharacter %s anywhere',
    (meta) => {
      for (const text of [`${meta}a:call:x`, `a:${meta}:x`, `a:call:${meta}`, `a:call:x${meta}y`, `a:call:x${meta}*`]) {
        expect(refusal(() => parseCapability(text)).code).toBe('policy.bad_capability');
      }
    },
  );

  it('[POL-2] refuses what cannot be seen or told apart, and names the character', () => {
    const unseen = [
      '\0',
      '\t',
      '\n',
      '\r',
      '\x1b',
      '\x7f',
      '\x85',
      '\u00a0',
      '\u00ad',
      '\u034f',
      '\u061c',
      '\u115f',
      '\u180e',
      '\u200b',
      '\u200d',
      '\u200e',
      '\u2028',
      '\u202e',
      '\u2060',
      '\u2066',
      '\u2800',
      '\u3000',
      '\u3164',
      '\ufe0f',
      '\ufeff',
      '\uffa0',
      '\ud800',
      '\udc00',
      '\ue000',
      '\u{e0041}',
      '\u{e0100}',
      '\u{10ffff}',
    ];
    for (const character of unseen) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      for (const text of [`a:call:x${character}y`, `a:call:x${character}*`, `a${character}:call:x`]) {
        expect(refusal(() => parseCapability(text)).message).toContain(`U+${code}`);
        expect(refusal(() => parsePattern(text)).message).toContain(`U+${code}`);
      }
    }
  });

  it('[POL-2] refuses text that is not NFC, and compares by code point without folding case', () => {
    expect(refusal(() => parseCapability('a:call:cafe\u0301')).message).toContain('normalization form C');
    expect(refusal(() => parsePattern('a:call:cafe\u0301*')).message).toContain('normalization form C');
    expect(covers(parsePattern('a:call:café'), parseCapability('a:call:CAFÉ'))).toBe(false);
    expect(covers(parsePattern('a:call:café'), parseCapability('a:call:café'))).toBe(true);
  });

  it('[POL-2] whatever an agent sends is either refused with a hint or comes back as it was', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.string().map((text) => `a:call:${text}`),
        ),
        (text) => {
          const read = attempted(text);
          expect(read instanceof AppError ? read.code : read.text).toBe(read instanceof AppError ? 'policy.bad_capability' : text);
          expect(read instanceof AppError ? read.hint : 'none needed').toBeTruthy();
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('[POL-2] a text of a megabyte is refused before it is looked at', () => {
    expect(refusal(() => parseCapability(`a:call:${'x'.repeat(1_000_000)}`)).message).toContain('too long');
  });
});

describe('what people may write in rules', () => {
  it.each([
    ['github:write:*', 'github:write:org/repo', true],
    ['github:write:*', 'github:write:org:repo/.env', true],
    ['github:*:*', 'github:write:org/repo', true],
    ['*:call:{get_*,list_*}', 'github:call:list_issues', true],
    ['*:call:{get_*,list_*}', 'github:call:delete_repo', false],
    ['{github,gitlab}:{call,read}:x', 'gitlab:read:x', true],
    ['{github,gitlab}:{call,read}:x', 'gitlab:write:x', false],
    ['git*:call:x', 'github:call:x', true],
    ['*:call:x', 'a:b:call:x', false],
    ['aws:*:production', 'aws:deploy:eu/production', false],
    ['aws:*:*production', 'aws:deploy:eu/production', true],
    ['a:call:x', 'a:call:x*', false],
    ['a:call:x*', 'a:call:x*', true],
    ['a:call:*', 'a:call:x*', true],
    ['a:call:{x,y}*', 'a:call:x*', true],
    ['a:call:*', 'a:*:x', false],
  ])('%s covers %s: %s', (pattern, text, expected) => {
    expect(covers(parsePattern(pattern), parseCapability(text))).toBe(expected);
  });

  it.each([
    ['a:call:**', 'two stars'],
    ['a:call:{x*,y}*', 'two stars'],
    ['a:call:{x}', 'one alternative only'],
    ['a:call:{x,}', 'empty alternative'],
    ['a:call:{x,{y,z}}', 'nests'],
    ['a:call:{x', 'never closes'],
    ['a:call:x}', 'never opened'],
    ['{a:call:x,b:call:y}', "reach across ':'"],
    ['a:{call:x,read:y}', "reach across ':'"],
    ['a:call:x?', "holds '?'"],
    ['a:call:[xy]', "holds '['"],
    ['!a:call:x', "holds '!'"],
    ['a:call:@(x|y)', "holds '('"],
    ['a:*', 'fewer than three parts'],
    ['A:call:x', 'matches no upstream'],
    ['a__*:call:x', 'matches no upstream'],
    ['a:9*:x', 'matches no action'],
    ['a:call:', 'resource is empty'],
  ])('[POL-2] a rule %s is an error with a hint', (text, message) => {
    const error = refusal(() => parsePattern(text));
    expect(error.message).toContain(message);
    expect(error.hint).toBeTruthy();
  });

  it('[POL-1] alternatives never blow up: what spells out more than 64 is refused at once', () => {
    const startedAt = performance.now();
    expect(refusal(() => parsePattern(`a:call:${'{x,y}'.repeat(100)}`)).message).toContain('64 alternatives');
    expect(refusal(() => parsePattern(`a:call:{${'x,'.repeat(400)}y}`)).message).toContain('64 alternatives');
    expect(performance.now() - startedAt).toBeLessThan(50);
  });

  it('[POL-1] a pattern asked for meets a deny on any part of it', () => {
    expect(meets(parsePattern('aws:*:production'), parseCapability('aws:*:prod*'))).toBe(true);
    expect(meets(parsePattern('aws:*:production'), parseCapability('aws:deploy:*'))).toBe(true);
    expect(meets(parsePattern('aws:*:production'), parseCapability('*:deploy:p*'))).toBe(true);
    expect(meets(parsePattern('aws:*:production'), parseCapability('aws:deploy:staging*'))).toBe(false);
  });
});
