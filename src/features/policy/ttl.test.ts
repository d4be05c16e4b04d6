import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatTtl, lowerRate, parseRate, parseTtl, rateWithin } from './ttl.ts';

describe('durations', () => {
  it.each([
    ['1s', 1_000],
    ['90s', 90_000],
    ['15m', 900_000],
    ['007m', 420_000],
    ['720h', 2_592_000_000],
  ])('[GRANT-2] reads %s as %i ms', (text, ms) => {
    expect(parseTtl(text)).toBe(ms);
  });

  it.each([
    '',
    '0s',
    '000m',
    '1d',
    '1w',
    '15',
    'm',
    '-5m',
    '+5m',
    '1.5h',
    '1h30m',
    '5 m',
    ' 5m',
    '5m ',
    '5M',
    '٥m',
    '1e3s',
    '0x10s',
    'forever',
    '721h',
    '43201m',
    '99999999999999999999h',
    '5m\n',
  ])('[GRANT-2] refuses %j', (text) => {
    expect(() => parseTtl(text)).toThrow(expect.objectContaining({ kind: 'invalid', code: 'policy.bad_ttl' }));
  });

  it('[GRANT-2] names what is expected in the words of the gate contract', () => {
    expect(() => parseTtl('1d')).toThrow("Invalid ttl '1d' — expected '<n>s', '<n>m' or '<n>h'");
  });

  it('writes what it reads back to the same length', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_592_000 }), (seconds) => {
        expect(parseTtl(formatTtl(seconds * 1_000))).toBe(seconds * 1_000);
      }),
    );
    expect(formatTtl(3_600_000)).toBe('1h');
    expect(formatTtl(900_000)).toBe('15m');
    expect(formatTtl(90_500)).toBe('90s');
    expect(formatTtl(1)).toBe('1s');
  });
});

describe('rates', () => {
  it.each(['', '0/m', '30', '30/d', '30 / m', '-1/m', '1.5/m', '30/min', '1000001/s'])('[GRANT-2] refuses %j', (text) => {
    expect(() => parseRate(text)).toThrow(expect.objectContaining({ code: 'policy.bad_ttl' }));
  });

  it('the lower of two rates is within both', () => {
    const rate = fc
      .tuple(fc.integer({ min: 1, max: 50 }), fc.constantFrom('s', 'm', 'h'))
      .map(([count, unit]) => parseRate(`${count}/${unit}`));
    fc.assert(
      fc.property(rate, rate, (one, other) => {
        const lower = lowerRate(one, other);
        expect(rateWithin(lower, one) && rateWithin(lower, other)).toBe(true);
        expect(parseRate(lower.text)).toEqual(lower);
      }),
    );
    expect(lowerRate(parseRate('30/m'), parseRate('100/h')).text).toBe('30/h');
    expect(lowerRate(parseRate('30/m'), parseRate('10/m')).text).toBe('10/m');
  });
});
