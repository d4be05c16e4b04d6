// RFC 8785 (JSON Canonicalization Scheme) over already parsed JSON values: sorted keys, shortest numbers, no white space.

type Value = null | boolean | number | string | readonly Value[] | { readonly [key: string]: Value };

/** Keys are sorted by UTF-16 code unit as RFC 8785 §3.2.3 says; `undefined` members are left out. Throws on NaN and infinities. */
export function canonicalJson(value: Value): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new RangeError('canonical JSON has no NaN and no infinity');
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${(value as readonly Value[]).map(canonicalJson).join(',')}]`;
  const object = value as Readonly<Record<string, Value | undefined>>;
  const members: string[] = [];
  for (const key of Object.keys(object).sort()) {
    const member = object[key];
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(member)}`);
  }
  return `{${members.join(',')}}`;
}
