// One pass over the records of a log: grows the tree, compares with the stored hashes, and keeps what no longer fits for the
// explanation. Judges nothing as a whole.
import { encodeHex } from '../../lib/base64url.ts';
import type { Files } from '../../kernel/ports.ts';
import type { ExpectedLeaves } from './expected-leaves.ts';
import type { MaybeHash } from './locate.ts';
import type { Mark } from './marks.ts';
import { createFrontier, sameBytes, type Frontier, type TreeHash } from './merkle.ts';
import type { Problem } from './problem.ts';
import { parseRecord } from './record.ts';
import { createRootChecks, type RootChecks } from './root-checks.ts';
import { scanLog, type ScanStep } from './scan.ts';

/** What stands from the first record on that is not the one whose hash was stored. */
export interface Odd {
  readonly from: number;
  readonly before: Frontier;
  readonly stands: MaybeHash[];
  /** False when more stands than is kept: then the end of `stands` is not the end of the log. */
  complete: boolean;
}

/** Some 60 MB of hashes: enough to explain, never enough to take the daemon down. */
const mostKept = 500_000;

export interface Walk {
  readonly records: number;
  readonly frontier: Frontier;
  readonly checks: RootChecks;
  readonly odd: Odd | undefined;
  readonly problems: readonly Problem[];
  /** Oddities of single records that another problem at the same record explains better. */
  readonly suspects: readonly Problem[];
}

export interface WalkDeps {
  readonly tree: TreeHash;
  readonly expected: ExpectedLeaves;
  readonly marks: readonly Mark[];
  readonly upTo: number;
  readonly signal: AbortSignal | undefined;
}

export async function walkLog(files: Files, folder: string, { tree, expected, marks, upTo, signal }: WalkDeps): Promise<Walk> {
  const problems: Problem[] = [];
  const suspects: Problem[] = [];
  const frontier = createFrontier(tree);
  const checks = createRootChecks(marks);
  const closed: { readonly level: number; readonly index: number; readonly hash: Uint8Array }[] = [];
  let odd: Odd | undefined;
  // False once records are known to be missing: from there on the tree of what stands means nothing.
  let whole = true;
  let damaged = false;
  let time = 0;
  let next = 0;
  checks.at(frontier);

  // Behind `upTo` the log is still being written; where something was inserted, what belongs before stands behind it now.
  const isDone = (): boolean => next >= upTo && odd === undefined;
  const startOdd = (): Odd => (odd ??= { from: next, before: frontier.clone(), stands: [], complete: true });

  function keep(hash: MaybeHash): void {
    if (odd === undefined) return;
    if (odd.stands.length < mostKept) odd.stands.push(hash);
    else odd.complete = false;
  }

  async function take(bytes: Uint8Array): Promise<void> {
    const record = parseRecord(bytes);
    if (record === undefined)
      suspects.push({ index: next, kind: 'record', message: `record ${next} is not canonical JSON of a record` });
    else if (record.t < time)
      suspects.push({ index: next, kind: 'order', message: `record ${next} is older than the one before it` });
    time = Math.max(time, record?.t ?? 0);
    const leaf = tree.leaf(bytes);
    const stored = odd === undefined ? await expected.leaf(next) : undefined;
    if (stored !== undefined && !sameBytes(stored, leaf)) startOdd();
    if (odd !== undefined) keep(encodeHex(leaf));
    next += 1;
    if (!whole) return;
    frontier.push(leaf, 0, (height, hash) => {
      if (height > 0 && height % 8 === 0) closed.push({ level: height / 8, index: frontier.size / 2 ** height - 1, hash });
    });
    checks.at(frontier);
  }

  function onDamage({ index, segment, offset }: Extract<ScanStep, { kind: 'damage' }>): void {
    const rest = `${segment.size - offset} bytes where record ${index} should start are no whole record`;
    if (marks.every(({ size }) => size <= index)) {
      problems.push({ index, kind: 'torn_tail', message: `${rest}; the next start cuts them off and records it` });
    } else {
      problems.push({ index, kind: 'damaged', message: rest });
    }
    damaged = true;
  }

  async function onGap(first: number): Promise<void> {
    if (damaged && first > next) {
      // How many records the damage swallowed is known now; the damage itself has been reported.
      startOdd();
      for (let index = next; index < first; index += 1) keep(undefined);
    } else if (odd === undefined && (await expected.leaf(Math.min(first, next))) === undefined) {
      // No stored hash can tell later what happened here.
      const kind = first < next ? 'inserted' : 'deleted';
      problems.push({ index: Math.min(first, next), kind, message: `the segment of record ${first} follows record ${next - 1}` });
    }
    startOdd();
    whole = false;
    damaged = false;
    next = first;
  }

  for await (const step of scanLog(files, folder)) {
    signal?.throwIfAborted();
    if (isDone()) break;
    if (step.kind === 'damage') onDamage(step);
    else if (step.kind === 'gap') await onGap(step.segment.first);
    else for (const bytes of step.records) if (!isDone()) await take(bytes);

    for (const { level, index, hash } of closed.splice(0)) {
      const stored = odd === undefined ? await expected.hash(level, index) : undefined;
      if (stored === undefined || sameBytes(stored, hash)) continue;
      problems.push({
        index: index * 256 ** level,
        kind: 'tile',
        message: `the stored tile of level ${level} is wrong at hash ${index}`,
      });
    }
  }
  if (expected.covered > next && next < upTo) startOdd();
  return { records: next, frontier, checks, odd, problems, suspects };
}
