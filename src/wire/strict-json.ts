// A request is parsed once and means one thing. JSON.parse checks the grammar and builds the value; one linear scan of the text then
// refuses what two readers could understand differently (I-JSON, RFC 7493): duplicate keys, numbers a double cannot carry, lone
// surrogates, and nesting so deep that later walks would hurt. Knows nothing of JSON-RPC.
import { AppError } from '../kernel/errors.ts';
import type { Json } from '../kernel/json.ts';
import { survivesDouble } from './number-text.ts';

export const maxJsonDepth = 64;

/** Why a text was refused, `data.reason` of `wire.bad_json`. */
export type JsonFault = 'syntax' | 'duplicate_key' | 'number' | 'surrogate' | 'depth';

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const colon = 0x3a;
const comma = 0x2c;
const minus = 0x2d;
const zero = 0x30;
const nine = 0x39;
const letterU = 0x75;

/**
 * Throws AppError `wire.bad_json` (kind invalid) whose message names the offset in UTF-16 units and, for a duplicate, the key.
 * A `__proto__` key is an ordinary own member of the value.
 */
export function parseStrictJson(text: string): Json {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    throw refusal('syntax', syntaxOffset(error), 'the text is not JSON');
  }
  if (!text.isWellFormed()) throw refusal('surrogate', undefined, 'a string holds half of a surrogate pair');
  scan(text);
  return value;
}

/** The keys of an object in the making: an array while there are few, so that small objects allocate little. */
type Keys = string[] | Set<string>;
const fewKeys = 12;

/** Walks a text that JSON.parse accepted; relies on its grammar being right. */
function scan(text: string): void {
  // One entry per open container: the keys of an object, `undefined` for an array.
  const open: (Keys | undefined)[] = [];
  let expectKey = false;
  // Most strings hold no escape: their end is the next quote, found natively. This is where the next backslash stands.
  let nextEscape = text.indexOf('\\');
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      if (nextEscape !== -1 && nextEscape < at) nextEscape = text.indexOf('\\', at);
      const close = text.indexOf('"', at + 1);
      const end = nextEscape === -1 || close < nextEscape ? close + 1 : endOfString(text, at);
      if (expectKey) {
        addKey(open, keyText(text, at, end), at);
        expectKey = false;
      }
      at = end;
      continue;
    }
    if (code === minus || (code >= zero && code <= nine)) {
      at = endOfNumber(text, at);
      continue;
    }
    if (code === openBrace || code === openBracket) {
      if (open.length === maxJsonDepth) throw refusal('depth', at, `nesting is deeper than ${maxJsonDepth} levels`);
      open.push(code === openBrace ? [] : undefined);
      expectKey = code === openBrace;
    } else if (code === closeBrace || code === closeBracket) {
      open.pop();
      expectKey = false;
    } else if (code === comma) {
      expectKey = open[open.length - 1] !== undefined;
    } else if (code === colon) {
      expectKey = false;
    }
    at += 1;
  }
}

function addKey(open: (Keys | undefined)[], key: string, at: number): void {
  const keys = open[open.length - 1];
  if (keys === undefined) return;
  const known = Array.isArray(keys) ? keys.includes(key) : keys.has(key);
  if (known) throw refusal('duplicate_key', at, `the key ${shown(key)} appears twice in one object`, key);
  if (!Array.isArray(keys)) keys.add(key);
  else if (keys.length < fewKeys) keys.push(key);
  else open[open.length - 1] = new Set(keys).add(key);
}

function keyText(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end - 1);
  return raw.includes('\\') ? (JSON.parse(text.slice(start, end)) as string) : raw;
}

/** The offset after the closing quote. The raw text is well formed, so only `\u` escapes can bring a lone surrogate. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === quote) return at + 1;
    if (code !== backslash) {
      at += 1;
      continue;
    }
    if (text.charCodeAt(at + 1) !== letterU) {
      at += 2;
      continue;
    }
    const unit = hexUnit(text, at);
    if (isHigh(unit)) {
      if (text.charCodeAt(at + 6) !== backslash || text.charCodeAt(at + 7) !== letterU || !isLow(hexUnit(text, at + 6))) {
        throw refusal('surrogate', at, 'a string holds half of a surrogate pair');
      }
      at += 12;
      continue;
    }
    if (isLow(unit)) throw refusal('surrogate', at, 'a string holds half of a surrogate pair');
    at += 6;
  }
}

function hexUnit(text: string, escapeAt: number): number {
  return Number.parseInt(text.slice(escapeAt + 2, escapeAt + 6), 16);
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function endOfNumber(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && isNumberCode(text.charCodeAt(at))) at += 1;
  if (at - start > 15 || hasExponent(text, start, at)) {
    const number = text.slice(start, at);
    if (!survivesDouble(number)) {
      throw refusal('number', start, `the number ${shown(number)} cannot be kept exactly; send it as a string`);
    }
  }
  return at;
}

/** Digits, point, signs and the exponent letter. */
function isNumberCode(code: number): boolean {
  return (code >= zero && code <= nine) || code === 0x2e || code === 0x65 || code === 0x45 || code === minus || code === 0x2b;
}

function hasExponent(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x65 || code === 0x45) return true;
  }
  return false;
}

function shown(text: string): string {
  return JSON.stringify(short(text));
}

function short(text: string): string {
  return text.length > 64 ? `${text.slice(0, 64)}…` : text;
}

/** V8 ends its message with `position N`; other wordings give no offset. */
function syntaxOffset(error: unknown): number | undefined {
  const message = error instanceof Error ? error.message : '';
  const at = message.lastIndexOf('position ');
  const offset = at === -1 ? Number.NaN : Number.parseInt(message.slice(at + 9), 10);
  return Number.isNaN(offset) ? undefined : offset;
}

function refusal(reason: JsonFault, offset: number | undefined, what: string, key?: string): AppError {
  const where = offset === undefined ? '' : ` at offset ${offset}`;
  return new AppError('invalid', 'wire.bad_json', `Bad JSON${where}: ${what}.`, {
    data: { reason, ...(offset === undefined ? {} : { offset }), ...(key === undefined ? {} : { key: short(key) }) },
  });
}
