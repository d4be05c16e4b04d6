// Text of strangers made safe to show: nothing in it can move a cursor, reorder a line, hide, or fake a line of ours.

// C0 and C1 controls, DEL, soft hyphen, zero-width and bidi marks, line separators, tags and other invisible format characters.
const unsafe =
  /[\p{Cc}\p{Cf}\u2028\u2029\u115F\u1160\u3164\uFFA0]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/gu;

const escaped = (character: string): string => {
  if (character === '\n') return '\\n';
  if (character === '\t') return '\\t';
  if (character === '\r') return '\\r';
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
};

/** One line: every control, format and line-breaking character is written as an escape (`\n`, `\u{1b}`). */
export function printable(text: string): string {
  return text.replace(unsafe, escaped);
}

/** Several lines: line feeds and tabs stay, but each further line carries a mark, so that it cannot pass for a line of ours. */
export function printableLines(text: string): string {
  return text
    .split('\n')
    .map((line) => line.split('\t').map(printable).join('\t'))
    .join('\n  | ');
}

/** The same value with every text in it, keys included, passed through `printableLines`. */
export function printableDeep(value: unknown): unknown {
  if (typeof value === 'string') return printableLines(value);
  if (Array.isArray(value)) return value.map(printableDeep);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [printable(key), printableDeep(member)]));
}

/** JSON text of the very same value in which no character can disturb a terminal. One line unless `indent` is given. */
export function printableJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, undefined, indent) ?? 'null';
  // What JSON.stringify left raw stands inside a string, where \uXXXX means the same; its own line feeds are layout.
  return text.replace(unsafe, (character) =>
    character === '\n'
      ? character
      : [...Array(character.length).keys()].map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  );
}
