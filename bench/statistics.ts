// Percentile and median, nothing more.

/** Nearest rank of an ascending list; `share` from 0 to 1. NaN for an empty one. */
export function percentile(ascending: readonly number[], share: number): number {
  return ascending[Math.max(0, Math.ceil(ascending.length * share) - 1)] ?? Number.NaN;
}

/** Mean of the two middle values for an even count; `undefined` for none. */
export function median(values: readonly number[]): number | undefined {
  const ascending = [...values].sort((a, b) => a - b);
  const middle = ascending.length / 2;
  const lower = ascending[Math.ceil(middle) - 1];
  const upper = ascending[Math.floor(middle)];
  return lower === undefined || upper === undefined ? undefined : (lower + upper) / 2;
}
