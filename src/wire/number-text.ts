// Does a JSON number survive the trip through a double? Compares decimal values, not spellings, in time linear in the text.

/** Any decimal of up to 15 significant digits without an exponent survives (IEEE 754: DBL_DIG is 15). */
const alwaysSafeLength = 15;

/**
 * True when the number that `JSON.parse` makes of `text` (a valid JSON number) is written back with the same decimal value:
 * `1.0`, `1e2` and `0.1` do, `9007199254740993`, `1e400` and `0.10000000000000000001` do not.
 */
export function survivesDouble(text: string): boolean {
  if (text.length <= alwaysSafeLength && !text.includes('e') && !text.includes('E')) return true;
  const value = Number(text);
  if (!Number.isFinite(value)) return false;
  const sent = decimalOf(text);
  const kept = decimalOf(String(value));
  return sent.digits === kept.digits && (sent.digits === '' || (sent.power === kept.power && sent.negative === kept.negative));
}

/** `digits` without zeros at either end, times ten to the `power`; no digits means zero. */
interface Decimal {
  readonly negative: boolean;
  readonly digits: string;
  readonly power: number;
}

function decimalOf(text: string): Decimal {
  const negative = text.startsWith('-');
  const exponentAt = Math.max(text.indexOf('e'), text.indexOf('E'));
  const mantissa = text.slice(negative ? 1 : 0, exponentAt === -1 ? undefined : exponentAt);
  const pointAt = mantissa.indexOf('.');
  const whole = pointAt === -1 ? mantissa : mantissa.slice(0, pointAt);
  const fraction = pointAt === -1 ? '' : mantissa.slice(pointAt + 1);
  const all = whole + fraction;

  let from = 0;
  while (from < all.length && all[from] === '0') from += 1;
  let to = all.length;
  while (to > from && all[to - 1] === '0') to -= 1;
  const exponent = exponentAt === -1 ? 0 : Number(text.slice(exponentAt + 1));
  return { negative, digits: all.slice(from, to), power: exponent - fraction.length + (all.length - to) };
}
