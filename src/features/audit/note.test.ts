import { describe, expect, it } from 'vitest';
import { createDigest, createVerifier, signerFromSeed } from '../../platform/crypto.ts';
import { listed, openCheckpoint, signCheckpoint, splitNotes } from './checkpoint.ts';
import { formatVerifierKey, noteKey, openNote, parseVerifierKey, signNote, type NoteKey } from './note.ts';

const digest = createDigest();
const verifier = createVerifier();
const signer = signerFromSeed(new Uint8Array(32).fill(3));
const key = noteKey(digest, 'sallyport/x', signer.publicKey);

describe('signed notes', () => {
  // The example of c2sp.org/signed-note.
  const example = {
    key: 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k',
    note: `This is an example message.

— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
`,
  };

  it('[AUD-2] open the example of the specification with its key, and spell that key the same way', () => {
    const published = parseVerifierKey(digest, example.key) as NoteKey;
    expect(openNote(example.note, published, verifier)).toBe('This is an example message.\n');
    expect(formatVerifierKey(published)).toBe(example.key);
  });

  it('[AUD-2] refuse another text, another key, a broken signature and control characters', () => {
    const note = signNote('a\nb\n', key, signer);
    expect(openNote(note, key, verifier)).toBe('a\nb\n');
    const stranger = noteKey(digest, 'sallyport/x', signerFromSeed(new Uint8Array(32)).publicKey);
    expect(openNote(note, stranger, verifier)).toBeUndefined();
    for (const bad of [
      note.replace('a', 'c'),
      note.slice(0, -1),
      note.replace('— ', '- '),
      note.replace('a', '\u0001'),
      '',
      'a\n',
    ]) {
      expect([bad, openNote(bad, key, verifier)]).toEqual([bad, undefined]);
    }
    const other = signNote('a\nb\n', noteKey(digest, 'witness', signer.publicKey), signer).split('\n\n')[1] ?? '';
    expect(openNote(`${note}${other}`, key, verifier)).toBe('a\nb\n');
  });

  it('refuse keys with a wrong id, another type, or a name with spaces or plus signs', () => {
    for (const text of [
      example.key.replace('530d903a', '530d903b'),
      example.key.replace('Aeky', 'BOky'),
      'x',
      `${example.key}+x`,
    ]) {
      expect([text, parseVerifierKey(digest, text)]).toEqual([text, undefined]);
    }
    for (const name of ['', 'a b', 'a+b', 'a\u00a0b']) expect(() => noteKey(digest, name, signer.publicKey)).toThrow(RangeError);
  });
});

describe('checkpoints', () => {
  const root = digest.sha256('x');

  it('[AUD-2] are notes of origin, size and root, and are opened in exactly one spelling', () => {
    const { note } = signCheckpoint(42, root, key, signer);
    expect(note.split('\n').slice(0, 3)).toEqual(['sallyport/x', '42', Buffer.from(root).toString('base64')]);
    expect(openCheckpoint(note, key, verifier)).toMatchObject({ size: 42, note });
    const base64 = Buffer.from(root).toString('base64');
    for (const text of [
      `sallyport/x\n042\n${base64}\n`,
      `sallyport/y\n42\n${base64}\n`,
      `sallyport/x\n42\n${base64}\nmore\n`,
      'sallyport/x\n42\nAA==\n',
    ]) {
      expect([text, openCheckpoint(signNote(text, key, signer), key, verifier)]).toEqual([text, undefined]);
    }
  });

  it('are read from a list one by one, around a damaged one and before half a one', () => {
    const notes = [1, 2, 3].map((size) => signCheckpoint(size, root, key, signer).note);
    const list = notes.map(listed).join('');
    expect(splitNotes(list)).toEqual({ notes, torn: '' });
    expect(splitNotes('')).toEqual({ notes: [], torn: '' });
    const damaged = list.replace('\n2\n', '\nX\n');
    expect(splitNotes(damaged).notes.map((note) => openCheckpoint(note, key, verifier)?.size)).toEqual([1, undefined, 3]);
    const half = splitNotes(list.slice(0, -30));
    expect(half.notes).toEqual(notes.slice(0, 2));
    expect(half.torn).not.toBe('');
  });
});
