// Ties the rows that rights come from (operator, agents, policy, acceptances, grants) to the record: each change of them is recorded
// with a seal over all of them and a count. Rows that another hand added, changed, took out or put back to an older copy no longer
// fit the last seal, and nothing more is decided on them. Knows no table; the composition root says what is read.
import { encodeBase64url } from '../../lib/base64url.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import type { Queries } from '../../kernel/database.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Json } from '../../kernel/json.ts';
import type { Digest } from '../../kernel/ports.ts';

/** Every row a right comes from, slice by slice, as flat objects; their order does not matter. */
export type RightsReader = (queries: Queries) => Promise<readonly (readonly object[])[]>;

export interface RightsSeal {
  /** Throws `audit.locked` unless the rows are those under the last seal. */
  assertUnmoved(queries: Queries): Promise<void>;
  /** The seal for the rows as the transaction leaves them. */
  next(tx: Queries): Promise<string>;
  /** The transaction of this seal committed, or failed in a way that may have been after its commit. */
  moved(seal: string, certain: boolean): void;
}

/** `<count>:<base64url of HMAC-SHA-256>`; the count makes an older seal worthless. */
const pattern = /^(\d{1,15}):[A-Za-z0-9_-]{43}$/;

/** 0 for what is no seal. */
export function countOf(seal: string | undefined): number {
  return Number(pattern.exec(seal ?? '')?.[1] ?? 0);
}

/** `last`: the newest seal on the record; `undefined` while no change was ever recorded, when there can be no rows. */
export function createRightsSeal(deps: {
  readonly digest: Digest;
  /** In no backup of the database. */
  readonly key: Uint8Array;
  readonly read: RightsReader;
  /** Triggers and the like, of which there are none of ours: one that rides along a change would be sealed with it. */
  readonly hooks: (queries: Queries) => Promise<number>;
  readonly last: string | undefined;
}): RightsSeal {
  const { digest, key, read, hooks } = deps;
  /** What may stand in the database now: one seal, or two after a commit whose end nobody saw. */
  let possible: readonly (string | undefined)[] = [deps.last];

  async function textOf(queries: Queries): Promise<string> {
    const [found, slices] = await Promise.all([hooks(queries), read(queries)]);
    if (found > 0) throw hooked();
    return JSON.stringify(slices.map((rows) => rows.map((row) => canonicalJson(row as Json)).sort()));
  }

  const sealOf = (count: number, text: string): string =>
    `${count}:${encodeBase64url(digest.hmacSha256(key, `sallyport rights seal v1\n${count}\n${text}`))}`;

  const fits = (seal: string | undefined, text: string): boolean =>
    seal === undefined ? /^[[\],]*$/.test(text) : sealOf(countOf(seal), text) === seal;

  return {
    async assertUnmoved(queries) {
      const text = await textOf(queries);
      const found = possible.filter((seal) => fits(seal, text));
      if (found.length === 0) throw edited();
      possible = found.slice(0, 1);
    },
    async next(tx) {
      return sealOf(countOf(possible[0]) + 1, await textOf(tx));
    },
    moved(seal, certain) {
      possible = certain ? [seal] : [...possible, seal];
    },
  };
}

function hooked(): AppError {
  return new AppError(
    'unavailable',
    'audit.locked',
    'Somebody put a trigger, a rule or a view into the database, which could change rights unseen. Nothing more is decided on it.',
    { hint: 'Put database, audit folder and keys back from one and the same backup.' },
  );
}

function edited(): AppError {
  return new AppError(
    'unavailable',
    'audit.locked',
    'The state in the database is not the one on the record: rows were edited, or an older copy was put in their place. Nothing more is decided on them.',
    {
      hint: 'Look at the last changes with `sallyport audit query`, then put database, audit folder and keys back from one and the same backup.',
    },
  );
}
