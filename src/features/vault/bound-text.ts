// What every sealed byte of the vault is bound to: format, purpose and place, as lines of text. Two purposes or places never have the
// same text, so nothing sealed for one opens at another.

const encoder = new TextEncoder();

/** A new format changes this line, and with it every byte. */
const format = 'sallyport vault v1';

/** The parts are names and numbers of ours; none may hold a line break, or two lists could have one text. */
export function boundText(purpose: string, ...parts: readonly (string | number)[]): Uint8Array {
  const lines = [format, purpose, ...parts.map(String)];
  if (lines.some((line) => line.includes('\n'))) throw new RangeError(`a part of '${purpose}' has a line break`);
  return encoder.encode(lines.join('\n'));
}
