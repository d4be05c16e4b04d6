// Verifies a whole log from its files: framing, records, order, tree, stored tiles and every checkpoint, with the place of each
// problem. Needs no running daemon and no private key.
import { encodeBase64 } from '../../lib/base64.ts';
import { encodeHex } from '../../lib/base64url.ts';
import type { Digest, Files, Verifier } from '../../kernel/ports.ts';
import { openExpectedLeaves, type ExpectedLeaves } from './expected-leaves.ts';
import { locate, type MaybeHash } from './locate.ts';
import { collectMarks, readKey, type HeldNote, type Mark } from './marks.ts';
import { createTreeHash } from './merkle.ts';
import { formatVerifierKey } from './note.ts';
import type { Problem } from './problem.ts';
import { createRootChecks, forkOf, type RootChecks } from './root-checks.ts';
import { walkLog, type Odd } from './walk.ts';

const mostProblems = 100;

export interface VerifyOptions {
  readonly digest: Digest;
  readonly verifier: Verifier;
  /** The verifier key to trust; without it the folder's own is believed. */
  readonly key?: string;
  /** Checkpoints that were kept elsewhere. */
  readonly held?: readonly HeldNote[];
  /** Of a running log: records behind these are not looked at. */
  readonly upTo?: number;
  readonly signal?: AbortSignal;
}

export interface Verification {
  readonly ok: boolean;
  readonly records: number;
  /** Base64 root over all records that stand. */
  readonly root: string;
  /** Entries of checkpoints.txt. */
  readonly checkpoints: number;
  /** Records under the newest checkpoint that holds. */
  readonly signed: number;
  /** The verifier key everything was checked with. */
  readonly key: string;
  /** By index, at most 100. */
  readonly problems: readonly Problem[];
}

interface Judgement {
  readonly odd: Odd;
  readonly expected: ExpectedLeaves;
  readonly checks: RootChecks;
  readonly marks: readonly Mark[];
  readonly upTo: number;
}

/** Records against stored hashes, with the signed checkpoints as the judge of who is right. */
async function explain({ odd, expected, checks, marks, upTo }: Judgement): Promise<Problem[]> {
  const { from, before, stands, complete } = odd;
  if (checks.failed.length === 0 && checks.passed.some(({ size }) => size > from)) {
    return [
      { index: from, kind: 'tile', message: `the stored hash of record ${from} is wrong; the record is the one that was signed` },
    ];
  }
  const should: MaybeHash[] = [];
  const stored = before.clone();
  const storedChecks = createRootChecks(marks.filter(({ size }) => size > from));
  const end = complete ? upTo : from + stands.length;
  for (let index = from; index < end; index += 1) {
    const leaf = await expected.leaf(index);
    if (leaf === undefined) break;
    should.push(encodeHex(leaf));
    stored.push(leaf);
    storedChecks.at(stored);
  }
  const fork = forkOf([...checks.passed, ...storedChecks.passed], storedChecks.failed);
  const found = locate(from, stands, should, mostProblems).filter(({ kind }) => complete || kind !== 'truncated');
  return [...found, ...(fork ? [fork] : [])];
}

/** Rejects with `audit.not_found` when the folder holds no log; everything else is in `problems`. */
export async function verifyFolder(files: Files, folder: string, options: VerifyOptions): Promise<Verification> {
  const { digest, verifier, held = [], upTo = Number.MAX_SAFE_INTEGER, signal } = options;
  const tree = createTreeHash((data) => digest.sha256(data));
  const key = await readKey(files, folder, digest, options.key);
  const { marks, checkpoints, problems } = await collectMarks({ files, folder, verifier, key }, held);
  const expected = await openExpectedLeaves(files, folder);
  const { records, frontier, checks, odd, ...found } = await walkLog(files, folder, { tree, expected, marks, upTo, signal });

  const all = [...problems, ...found.problems];
  const fork = forkOf(checks.passed, checks.failed);
  if (odd !== undefined) all.push(...(await explain({ odd, expected, checks, marks, upTo })));
  else if (fork !== undefined) all.push(fork);
  const beyond = marks.findLast(({ size }) => size > records && size <= upTo);
  if (beyond !== undefined && !all.some(({ kind }) => kind === 'truncated')) {
    const message = `the log ends after ${records} records, but ${beyond.where} was signed for ${beyond.size}`;
    all.push({ index: records, kind: 'truncated', message });
  }
  all.push(...found.suspects.filter(({ index }) => !all.some((problem) => problem.index === index)));
  return {
    ok: all.length === 0,
    records,
    root: encodeBase64(frontier.root()),
    checkpoints,
    signed: checks.passed.at(-1)?.size ?? 0,
    key: formatVerifierKey(key),
    problems: all.toSorted((a, b) => a.index - b.index).slice(0, mostProblems),
  };
}
