// The last part of a stream of text, bounded, fit to be shown: terminal sequences and other control characters taken out.

export interface TextTail {
  push(text: string): void;
  /** The tail in whole lines where possible; empty when nothing came. */
  read(): string;
}

// ECMA-48 control sequences and OSC strings, then whatever single control characters are left, save line feed and tab.
// oxlint-disable-next-line no-control-regex
const sequences = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;
const controls = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Keeps at least the last `maxChars` UTF-16 units, and never more than twice that. */
export function createTextTail(maxChars: number): TextTail {
  let kept = '';
  let cut = false;
  return {
    push(text) {
      kept += text.length > maxChars ? text.slice(-maxChars) : text;
      if (text.length > maxChars) cut = true;
      if (kept.length <= 2 * maxChars) return;
      kept = kept.slice(-maxChars);
      cut = true;
    },
    read() {
      const tail = kept.slice(-maxChars);
      const line = cut || tail.length < kept.length ? tail.indexOf('\n') : -1;
      const whole = line === -1 ? tail : tail.slice(line + 1);
      return whole
        .replace(sequences, '')
        .replace(controls, (character) => (character === '\n' || character === '\t' ? character : ''))
        .trim();
    },
  };
}
