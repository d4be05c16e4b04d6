// Opens the log at a start: goes on from the resume hint, cuts a torn tail back to whole records, and refuses a log that is shorter
// than or different from what was signed. Appends nothing.
import type { Digest, Files, Log, Verifier } from '../../kernel/ports.ts';
import { openCheckpoint, type Checkpoint } from './checkpoint.ts';
import { sameBytes, type Frontier, type TreeHash } from './merkle.ts';
import { formatVerifierKey, type NoteKey } from './note.ts';
import { rangeRoot } from './proof.ts';
import { opensIntent } from './model.ts';
import { parseRecord } from './record.ts';
import { readResume, type Resume, type ResumeSeal } from './resume.ts';
import { listSegments, scanLog, segmentPath } from './scan.ts';
import type { Position } from './segments.ts';
import { keyPath, lastSigned, locked, startWithOwnKeys } from './signed-checkpoints.ts';
import { createTiles, frontierOf, type Tiles } from './tiles.ts';

export interface OpenLogDeps {
  readonly files: Files;
  readonly folder: string;
  readonly digest: Digest;
  readonly tree: TreeHash;
  readonly key: NoteKey;
  readonly verifier: Verifier;
  readonly seal: ResumeSeal;
  readonly log: Log;
  /** The newest checkpoint note that the database remembers. */
  readonly anchor: string | undefined;
  /** Ids of records that wait in the outbox: which of them are in the log already? */
  readonly waiting: ReadonlySet<string>;
}

export interface OpenedLog {
  readonly frontier: Frontier;
  readonly tiles: Tiles;
  readonly position: Position;
  /** The last record, as the next resume hint needs it. */
  readonly last: Resume['last'];
  readonly time: number;
  readonly signed: Checkpoint | undefined;
  readonly openIntents: Map<string, string>;
  /** The newest seal of rights on the record. */
  readonly rights: string | undefined;
  /** Of `waiting`: those that the log holds. */
  readonly appended: ReadonlySet<string>;
  /** What a torn tail took: bytes behind the last whole record, kept in `torn/`. */
  readonly lostBytes: number;
}

interface Replay extends Omit<OpenedLog, 'signed' | 'lostBytes'> {
  /** False when the tree at the size of the checkpoint is another one, or is not reached. */
  readonly holds: boolean;
}

async function replay(deps: OpenLogDeps, signed: Checkpoint | undefined, resume: Resume | undefined): Promise<Replay> {
  const { files, folder, tree, waiting } = deps;
  const frontier = frontierOf(tree, resume?.edge ?? []);
  // The tiles under a hint were on stable storage before it; those behind it are made again from the records.
  const keepBelow = (resume?.checkpoint ?? signed)?.size ?? 0;
  const tiles = createTiles({ files, folder, tree, edge: resume?.edge ?? [], keepBelow });
  const openIntents = new Map(resume?.openIntents);
  const appended = new Set((resume?.outstanding ?? []).filter((id) => waiting.has(id)));
  let position = resume?.position ?? { segment: 0, offset: 0 };
  let last = resume?.last ?? { bytes: 0, leaf: tree.empty() };
  let time = resume?.time ?? 0;
  let rights = resume?.rights;
  let holds = signed === undefined || signed.size === frontier.size;

  for await (const step of scanLog(files, folder, { index: frontier.size, ...position })) {
    if (step.kind !== 'records') break;
    let whole = true;
    for (const [at, bytes] of step.records.entries()) {
      const record = parseRecord(bytes);
      whole = record !== undefined;
      if (record === undefined) break;
      last = { bytes: bytes.length + 2, leaf: tree.leaf(bytes) };
      frontier.push(last.leaf, 0, tiles.completed);
      position = { segment: step.segment.first, offset: step.ends[at] as number };
      time = Math.max(time, record.t);
      rights = record.rights ?? rights;
      if (opensIntent(record.event)) openIntents.set(record.id, record.actor);
      if (record.intent !== undefined) openIntents.delete(record.intent);
      if (waiting.has(record.id)) appended.add(record.id);
      if (frontier.size === signed?.size) holds = sameBytes(frontier.root(), signed.root);
    }
    if (!whole) break;
  }
  return { frontier, tiles, position, last, time, openIntents, rights, appended, holds };
}

/** Cuts everything behind `position` out of the log and keeps it in `torn/`; returns how much it was. */
async function cutTail(files: Files, folder: string, position: Position): Promise<number> {
  let lost = 0;
  for (const { first, path, size } of (await listSegments(files, folder)).reverse()) {
    if (first < position.segment) break;
    const offset = first === position.segment ? position.offset : 0;
    if (size > offset) {
      const bytes = await files.readBytes(path, { offset, length: size - offset });
      await files.writeAtomic(`${folder}/torn/${first}-${offset}.bin`, bytes ?? new Uint8Array(0));
      lost += size - offset;
    }
    if (first > position.segment) {
      await files.remove(path);
    } else if (size > offset) {
      const file = files.openAppend(segmentPath(folder, first));
      file.truncate(offset);
      await file.sync();
      file.close();
    }
  }
  return lost;
}

async function checkKey({ files, folder, key }: OpenLogDeps): Promise<void> {
  const own = formatVerifierKey(key);
  const found = (await files.readText(keyPath(folder)))?.trim();
  if (found === undefined) await files.writeAtomic(keyPath(folder), `${own}\n`);
  else if (found !== own) {
    throw locked(`it belongs to ${found}, but this installation’s key is ${own}.`, {}, startWithOwnKeys);
  }
}

async function checkAnchor({ tree }: OpenLogDeps, opened: Replay, anchor: Checkpoint): Promise<void> {
  const root = await rangeRoot(tree, opened.tiles.node, 0, anchor.size).catch((cause: unknown) => {
    throw locked(`the tiles below ${anchor.size} records cannot be read (${cause instanceof Error ? cause.message : 'unknown'}).`);
  });
  if (!sameBytes(root, anchor.root)) {
    throw locked(`its first ${anchor.size} records are not the ones the database remembers: the log was forked or replaced.`);
  }
}

/** Rejects with `audit.locked` and says what was found. */
export async function openLog(deps: OpenLogDeps): Promise<OpenedLog> {
  const { files, folder, key, verifier, log } = deps;
  await checkKey(deps);
  const anchor = deps.anchor === undefined ? undefined : openCheckpoint(deps.anchor, key, verifier);
  if (deps.anchor !== undefined && anchor === undefined)
    throw locked('the checkpoint in the database is not signed by this log’s key.');
  const resume = await readResume(deps);
  const signed = await lastSigned(deps, [
    ...(anchor ? [{ where: 'the checkpoint in the database', checkpoint: anchor }] : []),
    ...(resume ? [{ where: 'the checkpoint in resume.json', checkpoint: resume.checkpoint }] : []),
  ]);

  let opened = await replay(deps, signed, resume);
  if (!opened.holds && resume !== undefined) {
    log.warn('the resume hint of the audit log does not fit; reading the whole log', { records: signed?.size ?? 0 });
    opened = await replay(deps, signed, undefined);
  } else if (resume === undefined && signed !== undefined) {
    log.warn('the audit log has no usable resume hint; the whole log was read', { records: opened.frontier.size });
  }
  const { size } = opened.frontier;
  if (signed !== undefined && size < signed.size) {
    const found = `whole records end after ${size}, but a checkpoint was signed for ${signed.size}: ${signed.size - size} were cut off or damaged.`;
    throw locked(found, { records: size, signed: signed.size });
  }
  if (!opened.holds)
    throw locked(`its first ${signed?.size ?? 0} records are not the ones that were signed.`, { signed: signed?.size ?? 0 });
  // The first checkpoint is signed before anybody can append a second record.
  if (signed === undefined && size > 1)
    throw locked(`it has ${size} records and no checkpoint: checkpoints.txt was removed.`, { records: size });
  if (anchor !== undefined) await checkAnchor(deps, opened, anchor);
  return { ...opened, signed, lostBytes: await cutTail(files, folder, opened.position) };
}
