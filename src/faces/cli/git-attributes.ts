// The lines in which git and its helpers tell each other attributes (git-credential(1), INPUT/OUTPUT FORMAT). Knows no attribute by meaning.

/** The last of several lines with one name counts; a list (`name[]`) and lines without `=` are left out, as git does with what it does not know. */
export function readAttributes(text: string): Readonly<Record<string, string>> {
  const attributes = new Map<string, string>();
  for (const line of text.split('\n')) {
    // An empty line ends them; a carriage return is part of a value, and no value of ours has one.
    if (line === '') break;
    const at = line.indexOf('=');
    const name = line.slice(0, Math.max(0, at));
    if (name !== '' && !name.endsWith('[]')) attributes.set(name, line.slice(at + 1));
  }
  return Object.fromEntries(attributes);
}

/** Throws for a value that would be several lines, or end the text for whoever reads it. */
export function writeAttributes(attributes: Readonly<Record<string, string | number>>): string {
  const lines = Object.entries(attributes).map(([name, value]) => `${name}=${value}`);
  if (lines.some((line) => /[\r\n\0]/.test(line))) throw new RangeError('an attribute of git is one line');
  return lines.join('\n');
}
