// Where in a JSON text something stands, as the very characters. Written apart from the product, which is what it judges.

/** The text at a path of member names and indices; `undefined` when there is nothing. The JSON must be valid. */
export function sliceAt(json: string, path: readonly (string | number)[]): string | undefined {
  let at = json;
  for (const step of path) {
    const found = parts(at).find(({ key }) => key === step);
    if (found === undefined) return undefined;
    at = found.text;
  }
  return at;
}

/** The texts of the items of an array, or of the members of an object. */
export function slicesAt(json: string, path: readonly (string | number)[]): string[] {
  const whole = sliceAt(json, path);
  return whole === undefined ? [] : parts(whole).map(({ text }) => text);
}

interface Part {
  readonly key: string | number;
  readonly text: string;
}

/** Walks one level, by depth and strings alone. */
function parts(json: string): Part[] {
  const text = json.trim();
  const found: Part[] = [];
  const isObject = text.startsWith('{');
  if (!isObject && !text.startsWith('[')) return found;
  let depth = 0;
  let from = 1;
  let colon = -1;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') {
      at += 1;
      while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
    } else if (char === '{' || char === '[') depth += 1;
    else if (char === ':' && depth === 1 && colon < 0) colon = at;
    const closes = char === '}' || char === ']';
    if ((char === ',' && depth === 1) || (closes && depth === 1)) {
      const piece = text.slice(isObject ? colon + 1 : from, at).trim();
      if (piece !== '') {
        const key = isObject ? (JSON.parse(text.slice(from, colon).trim()) as string) : found.length;
        found.push({ key, text: piece });
      }
      from = at + 1;
      colon = -1;
    }
    if (closes) depth -= 1;
  }
  return found;
}
