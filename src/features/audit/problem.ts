// What a verification can find. `index` is the zero-based record the problem starts at.

export const problemKinds = [
  'changed', // the record is not the one that was hashed when it was written
  'deleted',
  'inserted',
  'swapped',
  'truncated', // records are missing at the end
  'forked', // other records were signed than are here
  'replayed', // an old checkpoint stands where a newer one was
  'checkpoint', // not signed by the log's key
  'damaged', // no whole record can be read
  'record', // whole, but not a canonical record
  'order', // time goes back
  'tile', // a stored subtree disagrees with records that are right
  'torn_tail', // half a record at the end, behind everything signed
] as const;
export type ProblemKind = (typeof problemKinds)[number];

export interface Problem {
  readonly index: number;
  readonly kind: ProblemKind;
  readonly message: string;
}
