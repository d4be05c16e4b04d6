// Names what was done to a sequence of records, given the hashes that stand and the hashes that should. Pure.
import type { Problem } from './problem.ts';

/** A hash as text; `undefined` where nothing can be read or nothing is known. */
export type MaybeHash = string | undefined;

function positions(hashes: readonly MaybeHash[]): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const [at, hash] of hashes.entries()) {
    if (hash === undefined) continue;
    const list = found.get(hash);
    if (list === undefined) found.set(hash, [at]);
    else list.push(at);
  }
  return found;
}

const records = (first: number, count: number): string =>
  count === 1 ? `record ${first}` : `records ${first} to ${first + count - 1}`;

/** `base` is the index of the first element of both. At most `limit` problems. */
export function locate(base: number, actual: readonly MaybeHash[], expected: readonly MaybeHash[], limit: number): Problem[] {
  const problems: Problem[] = [];
  const inActual = positions(actual);
  const inExpected = positions(expected);
  const settled = new Set<number>();
  let a = 0;
  let e = 0;
  const after = (found: readonly number[] | undefined, at: number): number | undefined => found?.find((one) => one > at);

  while (a < actual.length && e < expected.length && problems.length < limit) {
    const stands = actual[a];
    const should = expected[e];
    if (stands === undefined || should === undefined || stands === should || settled.has(e)) {
      a += 1;
      e += 1;
      continue;
    }
    const belongs = after(inExpected.get(stands), e);
    const moved = after(inActual.get(should), a);
    if (belongs !== undefined && moved !== undefined && belongs - e === moved - a) {
      problems.push({ index: base + e, kind: 'swapped', message: `records ${base + e} and ${base + belongs} changed places` });
      settled.add(belongs);
      a += 1;
      e += 1;
    } else if (belongs !== undefined && (moved === undefined || belongs - e <= moved - a)) {
      problems.push({ index: base + e, kind: 'deleted', message: `${records(base + e, belongs - e)} deleted` });
      e = belongs;
    } else if (moved !== undefined) {
      problems.push({ index: base + e, kind: 'inserted', message: `${moved - a} foreign records before record ${base + e}` });
      a = moved;
    } else {
      problems.push({ index: base + e, kind: 'changed', message: `record ${base + e} is not the one that was written` });
      a += 1;
      e += 1;
    }
  }
  const missing = a >= actual.length ? expected.length - e : 0;
  if (missing > 0)
    problems.push({ index: base + e, kind: 'truncated', message: `${records(base + e, missing)} missing at the end` });
  return problems;
}
