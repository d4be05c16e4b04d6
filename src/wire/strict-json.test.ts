import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AppError } from '../kernel/errors.ts';
import { survivesDouble } from './number-text.ts';
import { maxJsonDepth, parseStrictJson } from './strict-json.ts';

function faultOf(text: string): AppError {
  try {
    parseStrictJson(text);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error(`accepted: ${text.slice(0, 80)}`);
}

/** The value, or the reason of the refusal. */
function readAs(text: string): unknown {
  try {
    return parseStrictJson(text);
  } catch (error) {
    return (error as AppError).data?.['reason'];
  }
}

describe('what passes', () => {
  test('[DOOR-4] any value that JSON.stringify writes is read back equal, with white space anywhere', () => {
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 6 }).filter((text) => text.isWellFormed() && !/\\ud[89a-f]/i.test(text)),
        fc.constantFrom(undefined, 1, '\t', ' \n'),
        (text, indent) => {
          const spaced = JSON.stringify(JSON.parse(text), null, indent);
          expect(parseStrictJson(spaced)).toEqual(JSON.parse(spaced));
        },
      ),
    );
  });

  test('the same key in sibling and nested objects is no duplicate, nor is a string value that looks like one', () => {
    const text = '{"a":{"a":1,"b":["a",{"a":2},"a"]},"b":"a","c":[{"a":1},{"a":1}],"":0}';
    expect(parseStrictJson(text)).toEqual(JSON.parse(text));
  });

  test('a __proto__ key is an ordinary member that changes no prototype', () => {
    const value = parseStrictJson('{"__proto__":{"admin":true},"x":1}') as Record<string, unknown>;
    expect(Object.hasOwn(value, '__proto__')).toBe(true);
    expect(value['admin']).toBeUndefined();
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined();
  });

  test.each([
    '0.1',
    '-0',
    '1e2',
    '1.50',
    '9007199254740991',
    '-9007199254740991',
    '1e-7',
    '0e5',
    '1.7976931348623157e308',
    '5e-324',
    '1E+2',
  ])('the number %s is kept', (text) => {
    expect(parseStrictJson(`[${text}]`)).toEqual([Number(text)]);
  });

  test('a surrogate pair written as escapes is one character', () => {
    expect(parseStrictJson('"\\ud83d\\ude00 \\\\ud83d"')).toBe('😀 \\ud83d');
  });
});

describe('what is refused', () => {
  test.each([
    ['{"a":1,"a":1}', 7, 'a'],
    ['{"a":1,"\\u0061":2}', 7, 'a'],
    ['[{"x":{"k":[],"l":{},"k":null}}]', 21, 'k'],
    ['{"__proto__":1,"__proto__":2}', 15, '__proto__'],
    ['{"":1, "":2}', 7, ''],
  ])('[DOOR-4] %s has a duplicate key, and the error names its offset and the key', (text, offset, key) => {
    const fault = faultOf(text);
    expect(fault).toMatchObject({ kind: 'invalid', code: 'wire.bad_json', data: { reason: 'duplicate_key', offset, key } });
    expect(fault.message).toContain(`offset ${offset}`);
  });

  test('a duplicate among many keys is found in time linear in their number', () => {
    const members = Array.from({ length: 50_000 }, (_, index) => `"k${index}":0`);
    const startedAt = performance.now();
    expect(Object.keys(parseStrictJson(`{${members.join(',')}}`) as object)).toHaveLength(50_000);
    expect(faultOf(`{${members.join(',')},"k49999":1}`).data).toMatchObject({ reason: 'duplicate_key', key: 'k49999' });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  test.each([
    '9007199254740993',
    '-9007199254740993',
    '1e400',
    '1e-400',
    '12345678901234567890',
    '0.1000000000000000055511151231257827',
    '123456789012345678',
  ])('[DOOR-4] the number %s does not round-trip', (number) => {
    expect(faultOf(`{"n":${number}}`).data).toMatchObject({ reason: 'number', offset: 5 });
  });

  test('a number of a million digits is refused without a stall', () => {
    const startedAt = performance.now();
    expect(faultOf(`[1${'0'.repeat(1_000_000)}1]`).data).toMatchObject({ reason: 'number' });
    expect(faultOf(`[0.${'0'.repeat(1_000_000)}1]`).data).toMatchObject({ reason: 'number' });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  test.each(['"\\ud800"', '"\\udc00"', '"\\ud83dx"', '"\\ud83d\\ud83d"', '{"\\uDFFF":1}', '"\\ud83d\\n"', '"\ud83d"'])(
    '[DOOR-4] %j holds a lone surrogate',
    (text) => {
      expect(faultOf(text).data).toMatchObject({ reason: 'surrogate' });
    },
  );

  test('[DOOR-4] nesting beyond the limit is refused, at the limit it is not', () => {
    const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
    expect(() => parseStrictJson(nested(maxJsonDepth))).not.toThrow();
    expect(faultOf(nested(maxJsonDepth + 1)).data).toMatchObject({ reason: 'depth', offset: maxJsonDepth });
    expect(faultOf(nested(500_000)).data).toMatchObject({ reason: 'depth' });
    expect(faultOf('{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000)).data).toMatchObject({ reason: 'depth' });
  });

  test.each(['', '{', '{"a":1,}', '[1,]', "{'a':1}", '01', '+1', 'NaN', '\ufeff{}', '{}{}', '"\t"', 'nul'])(
    '[DOOR-4] %j is not JSON, and the message does not repeat it',
    (text) => {
      expect(faultOf(text).data).toMatchObject({ reason: 'syntax' });
      expect(faultOf(text).message).toMatch(/^Bad JSON( at offset \d+)?: the text is not JSON\.$/);
    },
  );
});

test('the number check agrees with exact integer arithmetic', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }), fc.integer({ min: 0, max: 6 }), (whole, zeros) => {
      // The shortest text that names the double must be the decimal itself: read it back through BigInt, not through our code.
      const text = `${whole}${'0'.repeat(whole === 0n ? 0 : zeros)}`;
      const shortest = Number(text).toString();
      const [mantissa = '', exponent = '0'] = shortest.split('e');
      const [head = '', tail = ''] = mantissa.split('.');
      const kept = BigInt(head + tail) * 10n ** BigInt(Number(exponent) - tail.length);
      expect(survivesDouble(text)).toBe(kept === BigInt(text));
    }),
  );
});

test('every finite double in any spelling of JavaScript survives', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(survivesDouble(JSON.stringify(value))).toBe(true);
      expect(survivesDouble(value.toExponential())).toBe(true);
    }),
  );
});

test('[DOOR-4] a tree is refused for duplicate keys exactly when one of its objects has two equal keys', () => {
  type Tree = { readonly text: string; readonly duplicate: boolean };
  const key = fc.constantFrom('a', 'b', '"', '\\', 'é', '__proto__', 'a b');
  const spelled = (name: string, escape: boolean): string =>
    escape
      ? `"${Array.from(name, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`
      : JSON.stringify(name);
  const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<Tree>({ text: '1', duplicate: false }, { text: '"a:{,\\""', duplicate: false }),
      fc.array(tie('tree'), { maxLength: 3 }).map((items) => ({
        text: `[${items.map((item) => item.text).join(', ')}]`,
        duplicate: items.some((item) => item.duplicate),
      })),
      fc.array(fc.tuple(key, fc.boolean(), tie('tree')), { maxLength: 3 }).map((members) => ({
        text: `{${members.map(([name, escape, member]) => `${spelled(name, escape)} :${member.text}`).join(',')}}`,
        duplicate: new Set(members.map(([name]) => name)).size < members.length || members.some(([, , member]) => member.duplicate),
      })),
    ),
  }));
  fc.assert(
    fc.property(tree, ({ text, duplicate }) => {
      expect(readAs(text)).toEqual(duplicate ? 'duplicate_key' : JSON.parse(text));
    }),
    { numRuns: 500 },
  );
});
