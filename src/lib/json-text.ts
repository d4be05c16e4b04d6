// Places inside a JSON text: where the members of an object and the elements of an array stand, without changing a byte of them.
// Checks structure only; whoever needs a value parses the slice. Knows nothing of JSON-RPC or MCP.

/** `start` (inclusive) and `end` (exclusive) are UTF-16 offsets of the value, white space around it left out. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

export interface TextMember extends TextSpan {
  /** The key as a value, its escapes resolved. */
  readonly key: string;
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * The members of the object at `at`, in order, duplicates included. `undefined` when the structure is no object or broken.
 * Values are skipped over, not validated: a slice may still be refused by JSON.parse.
 */
export function objectMembers(text: string, at = 0): TextMember[] | undefined {
  const start = skipSpace(text, at);
  if (text.charCodeAt(start) !== openBrace) return undefined;
  const members: TextMember[] = [];
  let cursor = skipSpace(text, start + 1);
  if (text.charCodeAt(cursor) === closeBrace) return members;
  for (;;) {
    const member = memberAt(text, cursor);
    if (member === undefined) return undefined;
    members.push(member);
    cursor = skipSpace(text, member.end);
    const next = text.charCodeAt(cursor);
    if (next === closeBrace) return members;
    if (next !== comma) return undefined;
    cursor = skipSpace(text, cursor + 1);
  }
}

function memberAt(text: string, at: number): TextMember | undefined {
  const head = memberHead(text, at);
  if (head === undefined) return undefined;
  const end = skipValue(text, head.start);
  return end === undefined ? undefined : { key: head.key, start: head.start, end };
}

/** Key and start of the value of the member that begins at `at`; `undefined` when there is none. */
export function memberHead(text: string, at: number): { readonly key: string; readonly start: number } | undefined {
  if (text.charCodeAt(at) !== quote) return undefined;
  const keyEnd = skipString(text, at);
  if (keyEnd === undefined) return undefined;
  const key = stringValue(text.slice(at, keyEnd));
  const cursor = skipSpace(text, keyEnd);
  if (key === undefined || text.charCodeAt(cursor) !== colon) return undefined;
  return { key, start: skipSpace(text, cursor + 1) };
}

/** The elements of the array at `at`, in order; `undefined` when the structure is no array or broken. */
export function arrayElements(text: string, at = 0): TextSpan[] | undefined {
  const start = skipSpace(text, at);
  if (text.charCodeAt(start) !== openBracket) return undefined;
  const elements: TextSpan[] = [];
  let cursor = skipSpace(text, start + 1);
  if (text.charCodeAt(cursor) === closeBracket) return elements;
  for (;;) {
    const end = skipValue(text, cursor);
    if (end === undefined) return undefined;
    elements.push({ start: cursor, end });
    cursor = skipSpace(text, end);
    const next = text.charCodeAt(cursor);
    if (next === closeBracket) return elements;
    if (next !== comma) return undefined;
    cursor = skipSpace(text, cursor + 1);
  }
}

/** The offset after the value at `at`, found by brackets and quotes alone; no recursion, so depth costs nothing. */
export function skipValue(text: string, at: number): number | undefined {
  const first = text.charCodeAt(at);
  if (first === quote) return skipString(text, at);
  if (first !== openBrace && first !== openBracket) return skipScalar(text, at);
  let depth = 0;
  let cursor = at;
  while (cursor < text.length) {
    const code = text.charCodeAt(cursor);
    if (code === quote) {
      const end = skipString(text, cursor);
      if (end === undefined) return undefined;
      cursor = end;
      continue;
    }
    if (code === openBrace || code === openBracket) depth += 1;
    else if (code === closeBrace || code === closeBracket) depth -= 1;
    cursor += 1;
    if (depth === 0) return cursor;
  }
  return undefined;
}

/** True when any object in a text that JSON.parse accepted has the same key twice: two readers could see two values. One pass. */
export function hasDuplicateKeys(text: string): boolean {
  /** Of each object around the place; nothing stands for an array. */
  const around: (Set<string> | undefined)[] = [];
  let keys: Set<string> | undefined;
  let isKey = false;
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      const end = skipString(text, at) ?? text.length;
      if (isKey && keys !== undefined) {
        const size = keys.size;
        if (keys.add(stringValue(text.slice(at, end)) ?? '').size === size) return true;
        isKey = false;
      }
      at = end;
      continue;
    }
    if (code === openBrace || code === openBracket) {
      around.push(keys);
      keys = code === openBrace ? new Set() : undefined;
      isKey = code === openBrace;
    } else if (code === closeBrace || code === closeBracket) {
      keys = around.pop();
      isKey = false;
    } else if (code === comma) isKey = keys !== undefined;
    at += 1;
  }
  return false;
}

export function skipSpace(text: string, at: number): number {
  let cursor = at;
  for (;;) {
    const code = text.charCodeAt(cursor);
    if (code !== 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d) return cursor;
    cursor += 1;
  }
}

function skipString(text: string, at: number): number | undefined {
  // indexOf is native: long strings cost next to nothing.
  for (let end = text.indexOf('"', at + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes += 1;
    if (slashes % 2 === 0) return end + 1;
  }
  return undefined;
}

function skipScalar(text: string, at: number): number | undefined {
  let cursor = at;
  while (cursor < text.length && isScalarCode(text.charCodeAt(cursor))) cursor += 1;
  return cursor === at ? undefined : cursor;
}

/** Letters, digits, `+`, `-` and `.`: true, false, null and numbers. */
function isScalarCode(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x61 && code <= 0x7a) ||
    code === 0x45 ||
    code === 0x2b ||
    code === 0x2d ||
    code === 0x2e
  );
}

function stringValue(token: string): string | undefined {
  if (!token.includes('\\')) return token.slice(1, -1);
  try {
    return JSON.parse(token) as string;
  } catch {
    return undefined;
  }
}
