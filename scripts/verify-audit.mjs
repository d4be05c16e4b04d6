// Verifies an exported Sallyport audit log, or the proof of one record, with Node.js 20 or newer and nothing else.
//
//   node verify-audit.mjs BUNDLE [--key VKEY] [--against CHECKPOINT]     every record, stored hash, checkpoint and signature
//   node verify-audit.mjs FILE.tlog-proof --key VKEY [--text FIELD=TEXT]  one record; TEXT is compared with its sealed digest
//
// VKEY and CHECKPOINT are texts or files. Exit status: 0 holds, 1 does not hold, 2 wrong use.
// Formats: RFC 6962 and RFC 9162 (tree), RFC 8785 (records), c2sp.org/signed-note, tlog-checkpoint, tlog-tiles, tlog-proof.
import { createHash, createHmac, createPublicKey, verify } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();
const leafHash = (record) => sha256(Buffer.of(0), record);
const nodeHash = (left, right) => sha256(Buffer.of(1), left, right);
const refuse = (message) => {
  throw new Error(message);
};

function parseKey(text) {
  const [, name, id, material] =
    /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(text.trim()) ?? refuse('this is not a verifier key');
  const bytes = Buffer.from(material, 'base64');
  if (bytes.length !== 33 || bytes[0] !== 1) refuse('only Ed25519 verifier keys are understood');
  const keyId = sha256(`${name}\n`, bytes).subarray(0, 4);
  if (keyId.toString('hex') !== id) refuse('the id of the verifier key is wrong');
  const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), bytes.subarray(1)]);
  return { name, keyId, text: text.trim(), publicKey: createPublicKey({ key: der, format: 'der', type: 'spki' }) };
}

function openCheckpoint(note, key, where) {
  const split = note.lastIndexOf('\n\n');
  const text = note.slice(0, split + 1);
  const isOurs = (line) => {
    const [, name, blob = ''] = /^— (\S+) (\S+)$/.exec(line) ?? [];
    const bytes = Buffer.from(blob, 'base64');
    const named = name === key.name && bytes.subarray(0, 4).equals(key.keyId);
    return named && verify(null, Buffer.from(text), key.publicKey, bytes.subarray(4));
  };
  const signatures = note
    .slice(split + 2)
    .trimEnd()
    .split('\n');
  if (split < 0 || !signatures.some(isOurs)) refuse(`${where} is not signed by ${key.name}`);
  const [, origin, size, root] = /^(.+)\n(0|[1-9]\d*)\n(\S{44})\n$/.exec(text) ?? refuse(`${where} is not a checkpoint`);
  if (origin !== key.name) refuse(`${where} belongs to ${origin}, not to ${key.name}`);
  return { where, size: Number(size), root: Buffer.from(root, 'base64') };
}

/** `closed(height, hash)` is called with every complete subtree. */
function createTree(closed) {
  const peaks = [];
  const tree = {
    size: 0,
    push(leaf) {
      let peak = { height: 0, hash: leaf };
      tree.size += 1;
      while (peaks.at(-1)?.height === peak.height) {
        peak = { height: peak.height + 1, hash: nodeHash(peaks.pop().hash, peak.hash) };
        closed(peak.height, peak.hash);
      }
      peaks.push(peak);
    },
    root: () => peaks.reduceRight((root, { hash }) => (root ? nodeHash(hash, root) : hash), undefined) ?? sha256(),
  };
  return tree;
}

function provesInclusion(index, size, leaf, path, root) {
  let [fn, sn, hash] = [index, size - 1, leaf];
  for (const sibling of path) {
    if (sn === 0) return false;
    if (fn % 2 === 1 || fn === sn) {
      hash = nodeHash(sibling, hash);
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn / 2, Math.floor(sn / 2)];
    } else {
      hash = nodeHash(hash, sibling);
    }
    [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
  }
  return index < size && sn === 0 && hash.equals(root);
}

function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const member = (key) => `${JSON.stringify(key)}:${canonical(value[key])}`;
  return `{${Object.keys(value).sort().map(member).join(',')}}`;
}

function parseRecord(bytes) {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const record = JSON.parse(text);
    return record?.v === 1 && Number.isSafeInteger(record.t) && canonical(record) === text ? record : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps the last file of each level, since hashes are asked for in order. */
function tileReader(folder) {
  const last = new Map();
  return (level, tile, width) => {
    if (last.get(level)?.tile === tile) return last.get(level).bytes;
    const padded = '0'.repeat((3 - (String(tile).length % 3)) % 3) + tile;
    const name = padded.replace(/\d{3}(?=\d)/g, 'x$&/');
    const path = join(folder, 'tile', String(level), width < 256 ? `${name}.p/${width}` : name);
    const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
    last.set(level, { tile, bytes });
    return bytes;
  };
}

/** Every checkpoint by ascending size; those out of order or not signed are told to `found`. */
function collectCheckpoints(folder, key, against, found) {
  const latest = openCheckpoint(readFileSync(join(folder, 'checkpoint'), 'utf8'), key, 'checkpoint');
  const marks = [latest];
  let signed = 0;
  const pieces = readFileSync(join(folder, 'checkpoints.txt'), 'utf8').split(/\n\n(?!— )/);
  for (const [at, piece] of pieces.slice(0, -1).entries()) {
    try {
      const mark = openCheckpoint(`${piece}\n`, key, `entry ${at + 1} of checkpoints.txt`);
      if (mark.size <= signed)
        found(mark.size, `${mark.where} is for ${mark.size} records, after one for ${signed}: an old one was replayed`);
      signed = Math.max(signed, mark.size);
      marks.push(mark);
    } catch (thrown) {
      found(signed, thrown.message);
    }
  }
  if (signed > latest.size) found(latest.size, `checkpoint is for ${latest.size} records, one for ${signed} was replaced by it`);
  if (against !== undefined) marks.push({ ...openCheckpoint(against, key, 'the checkpoint you hold'), outside: true });
  return { latest, marks: marks.sort((a, b) => a.size - b.size) };
}

function verifyBundle(folder, key, against) {
  const problems = [];
  const found = (index, message) => problems.push([index, message]);
  const { latest, marks } = collectCheckpoints(folder, key, against, found);
  // After the first record that does not fit, every later root is wrong too and says nothing new.
  const before = problems.length;
  const sound = () => problems.length === before;
  const tileFile = tileReader(folder);
  const widthOf = (level, tile) => Math.min(256, Math.floor(latest.size / 256 ** level) - tile * 256);
  const isStored = (level, index, hash) => {
    const tile = Math.floor(index / 256);
    const offset = (index % 256) * 32;
    return tileFile(level, tile, widthOf(level, tile))
      .subarray(offset, offset + 32)
      .equals(hash);
  };
  const tree = createTree((height, hash) => {
    const first = tree.size - 2 ** height;
    if (height % 8 !== 0 || !sound() || isStored(height / 8, first / 2 ** height, hash)) return;
    found(first, `the stored hash of records ${first} to ${tree.size - 1} is wrong`);
  });
  let [time, held, next] = [0, 0, 0];
  const judge = () => {
    let passed = held;
    for (; marks[next]?.size === tree.size; next += 1) {
      const { root, where, outside } = marks[next];
      // What a bundle says of itself proves nothing about a checkpoint from outside.
      const from = outside ? 0 : held;
      if (sound() && !tree.root().equals(root)) found(from, `records ${from} to ${tree.size - 1} are not the ones under ${where}`);
      if (sound()) passed = tree.size;
    }
    held = passed;
  };
  judge();
  reading: for (let tile = 0; tile * 256 < latest.size; tile += 1) {
    const bundle = tileFile('entries', tile, widthOf(0, tile));
    let at = 0;
    for (let count = 0; count < widthOf(0, tile); count += 1) {
      const index = tree.size;
      const length = at + 2 <= bundle.length ? bundle.readUInt16BE(at) : 0;
      if (length === 0 || at + 2 + length > bundle.length) {
        found(index, `record ${index} is missing or damaged; what follows was not checked`);
        break reading;
      }
      const bytes = bundle.subarray(at + 2, at + 2 + length);
      at += 2 + length;
      const [record, leaf] = [parseRecord(bytes), leafHash(bytes)];
      if (!isStored(0, index, leaf)) found(index, `record ${index} is not the one whose hash was stored`);
      else if (record === undefined) found(index, `record ${index} is not canonical JSON of a record`);
      else if (record.t < time) found(index, `record ${index} is older than the one before it`);
      time = Math.max(time, record?.t ?? 0);
      tree.push(leaf);
      judge();
    }
    if (at < bundle.length) found(tree.size, `bytes behind record ${tree.size - 1} belong to no record`);
  }
  for (const { size, where } of marks.slice(next)) {
    if (size > tree.size) found(tree.size, `the log ends after ${tree.size} records, but ${where} was signed for ${size}`);
  }
  return { records: tree.size, root: tree.root(), checkpoints: marks.length, problems };
}

function verifyProof(text, key, claims) {
  const split = text.indexOf('\n\n');
  const [head, extra = '', index = '', ...path] = text.slice(0, split).split('\n');
  const isProof = head === 'c2sp.org/tlog-proof@v1' && extra.startsWith('extra ') && /^index \d+$/.test(index);
  if (!isProof) refuse('this is not a proof of an audit record');
  const { record, salt } = JSON.parse(Buffer.from(extra.slice(6), 'base64').toString());
  const { size, root } = openCheckpoint(text.slice(split + 2), key, 'the checkpoint of the proof');
  const [at, hashes] = [Number(index.slice(6)), path.map((line) => Buffer.from(line, 'base64'))];
  if (!provesInclusion(at, size, leafHash(record), hashes, root)) refuse(`this record is not record ${at} of the signed log`);
  for (const claim of claims) {
    const [field, ...rest] = claim.split('=');
    const key = Buffer.from(salt ?? refuse('this proof carries no salt'), 'base64url');
    const digest = createHmac('sha256', key).update(rest.join('=')).digest('base64url');
    if (JSON.parse(record).sealed?.[field] !== digest) refuse(`'${field}' was recorded with another text`);
  }
  return { index: at, size, record };
}

function main(args) {
  const options = { key: { type: 'string' }, against: { type: 'string' }, text: { type: 'string', multiple: true } };
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
  const path = positionals.length === 1 && existsSync(positionals[0]) ? positionals[0] : undefined;
  const isBundle = path !== undefined && statSync(path).isDirectory();
  if (path === undefined || (!isBundle && values.key === undefined)) {
    console.error('usage: verify-audit.mjs BUNDLE [--key VKEY] [--against CHECKPOINT]');
    console.error('       verify-audit.mjs FILE.tlog-proof --key VKEY [--text FIELD=TEXT]');
    return 2;
  }
  const content = (value) => (value !== undefined && existsSync(value) ? readFileSync(value, 'utf8') : value);
  const key = parseKey(content(values.key ?? join(path, 'log.vkey')));
  if (!isBundle) {
    const { index, size, record } = verifyProof(readFileSync(path, 'utf8'), key, values.text ?? []);
    const texts = values.text ? ' The texts are as recorded.' : '';
    console.log(`Holds: this is record ${index} of the ${size} signed.${texts}\n${record}`);
    return 0;
  }
  const { records, root, checkpoints, problems } = verifyBundle(path, key, content(values.against));
  for (const [index, message] of problems.slice(0, 100)) console.log(`  ${index}  ${message}`);
  const verdict = problems.length === 0 ? 'Holds' : 'Does NOT hold';
  console.log(`${verdict}: ${records} records, ${checkpoints} checkpoints, root ${root.toString('base64')}`);
  const own = `Signed by ${key.text}\nThat key came with the bundle: compare it with the one you know.`;
  console.log(values.key ? `Signed by the key you gave, ${key.name}.` : own);
  return problems.length === 0 ? 0 : 1;
}

try {
  process.exitCode = main(process.argv.slice(2));
} catch (thrown) {
  const misuse = thrown.code?.startsWith('ERR_PARSE_ARGS');
  console.error(misuse ? thrown.message : `Does NOT hold: ${thrown.message}`);
  process.exitCode = misuse ? 2 : 1;
}
