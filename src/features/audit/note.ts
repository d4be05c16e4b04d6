// C2SP signed notes (c2sp.org/signed-note) with one Ed25519 key of type 0x01. Knows nothing of what the text says.
import { decodeBase64, encodeBase64 } from '../../lib/base64.ts';
import { encodeHex } from '../../lib/base64url.ts';
import type { Digest, Signer, Verifier } from '../../kernel/ports.ts';
import { sameBytes } from './merkle.ts';

export interface NoteKey {
  /** No spaces, no plus; by convention the origin of the log. */
  readonly name: string;
  /** First four bytes of SHA-256(name ‖ LF ‖ 0x01 ‖ public key). */
  readonly id: Uint8Array;
  readonly publicKey: Uint8Array;
}

const ed25519 = 0x01;
const encoder = new TextEncoder();

export function noteKey(digest: Digest, name: string, publicKey: Uint8Array): NoteKey {
  if (!/^[^\s+\p{Zs}]+$/u.test(name)) throw new RangeError('a note key has a name without spaces and plus signs');
  const input = Uint8Array.from([...encoder.encode(`${name}\n`), ed25519, ...publicKey]);
  return { name, id: digest.sha256(input).subarray(0, 4), publicKey };
}

/** The verifier key text: `name+hex id+base64(0x01 ‖ public key)`. */
export function formatVerifierKey(key: NoteKey): string {
  return `${key.name}+${encodeHex(key.id)}+${encodeBase64(Uint8Array.from([ed25519, ...key.publicKey]))}`;
}

/** `undefined` unless it is one Ed25519 verifier key whose id is right. */
export function parseVerifierKey(digest: Digest, text: string): NoteKey | undefined {
  const parts = /^([^\s+]+)\+([0-9a-f]{8})\+(\S+)$/.exec(text.trim());
  const material = decodeBase64(parts?.[3] ?? '');
  if (parts?.[1] === undefined || material?.length !== 33 || material[0] !== ed25519) return undefined;
  const key = noteKey(digest, parts[1], material.subarray(1));
  return encodeHex(key.id) === parts[2] ? key : undefined;
}

/** `text` ends in a newline. */
export function signNote(text: string, key: NoteKey, signer: Signer): string {
  const signature = signer.sign(encoder.encode(text));
  return `${text}\n— ${key.name} ${encodeBase64(Uint8Array.from([...key.id, ...signature]))}\n`;
}

/** The signed text, or `undefined` when this key did not sign it. Signatures of other keys are ignored, as the format asks. */
export function openNote(note: string, key: NoteKey, verifier: Verifier): string | undefined {
  const split = note.lastIndexOf('\n\n');
  // oxlint-disable-next-line no-control-regex -- the format forbids them
  if (split < 0 || !note.endsWith('\n') || /[\u0000-\u0009\u000b-\u001f]/.test(note)) return undefined;
  const text = note.slice(0, split + 1);
  let signed = false;
  for (const line of note.slice(split + 2, -1).split('\n')) {
    const parts = /^— (\S+) (\S+)$/.exec(line);
    if (parts === null) return undefined;
    const bytes = decodeBase64(parts[2] ?? '');
    if (parts[1] !== key.name || bytes === undefined || !sameBytes(bytes.subarray(0, 4), key.id)) continue;
    if (!verifier.verify(key.publicKey, encoder.encode(text), bytes.subarray(4))) return undefined;
    signed = true;
  }
  return signed ? text : undefined;
}
