// RFC 8785 (JSON Canonicalization Scheme) over already parsed JSON values: sorted keys, shortest numbers, no white space.

type Value = null | boolean | number | string | readonly Value[] | { readonly [key: string]: Value };
type Members = Readonly<Record<string, Value | undefined>>;

/** Keys are sorted by UTF-16 code unit as RFC 8785 §3.2.3 says; `undefined` members are left out. Throws on NaN and infinities. */
export function canonicalJson(value: Value): string {
  // JSON.stringify writes strings and numbers as RFC 8785 wants them, and members in the order in which they stand.
  return inOrder(value) ? JSON.stringify(value) : sorted(value);
}

function inOrder(value: Value | undefined): boolean {
  if (typeof value === 'number') return assertFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return (value as readonly Value[]).every(inOrder);
  const object = value as Members;
  let before = '';
  for (const key of Object.keys(object)) {
    if (before > key || !inOrder(object[key])) return false;
    before = key;
  }
  return true;
}

function sorted(value: Value): string {
  if (typeof value === 'number') assertFinite(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${(value as readonly Value[]).map(sorted).join(',')}]`;
  const object = value as Members;
  const members: string[] = [];
  for (const key of Object.keys(object).sort()) {
    const member = object[key];
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${sorted(member)}`);
  }
  return `{${members.join(',')}}`;
}

function assertFinite(value: number): true {
  if (!Number.isFinite(value)) throw new RangeError('canonical JSON has no NaN and no infinity');
  return true;
}
