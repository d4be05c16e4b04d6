// Pages of a list. A cursor says where the next page starts and which entry stood before it, so that a list which changed in between
// neither repeats nor skips an entry unsaid. The entries themselves are JSON texts that nobody parses here.
import { AppError } from '../../kernel/errors.ts';

export const entriesPerPage = 100;

export interface ListPage {
  readonly entries: readonly string[];
  readonly nextCursor: string | undefined;
}

/** Throws AppError `wire.bad_params` (kind invalid) for a cursor that is not ours or whose place in the list is gone. */
export function listPage(entries: readonly string[], cursor: string | undefined, pageSize = entriesPerPage): ListPage {
  const start = cursor === undefined ? 0 : startOf(entries, cursor);
  const end = start + pageSize;
  const last = entries[end - 1];
  if (last === undefined || end >= entries.length)
    return { entries: start === 0 ? entries : entries.slice(start), nextCursor: undefined };
  return { entries: entries.slice(start, end), nextCursor: btoa(`1.${end}.${fingerprint(last)}`) };
}

function startOf(entries: readonly string[], cursor: string): number {
  const [, offset, print] = /^1\.([1-9]\d{0,8})\.([0-9a-f]{8})$/.exec(decoded(cursor)) ?? [];
  if (offset === undefined || print === undefined) {
    throw new AppError('invalid', 'wire.bad_params', 'Unknown cursor. Pass the nextCursor of an earlier page as it came, or none.');
  }
  const expected = Number(offset);
  const before = entries[expected - 1];
  if (before !== undefined && fingerprint(before) === print) return expected;
  const moved = entries.findIndex((entry) => fingerprint(entry) === print);
  if (moved !== -1) return moved + 1;
  throw new AppError('invalid', 'wire.bad_params', 'The list changed since this cursor was given. List again without a cursor.');
}

function decoded(cursor: string): string {
  try {
    return atob(cursor);
  } catch {
    return '';
  }
}

/** FNV-1a, 32 bits: tells entries of one list apart; secrecy and collisions on purpose do not matter here. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
