// The operator's passphrase from a file, for machines where nobody types. What is signed with it is marked `passphrase_file`.
import { AppError } from '../kernel/errors.ts';
import { readPrivateFile } from './private-file.ts';

const maxBytes = 4_096;

/** The first line. Throws `operator.unsafe_file` when the file is missing, empty, a link, not ours, or open to others. */
export async function readPassphraseFile(path: string): Promise<string> {
  const text = await readPrivateFile(path, { what: 'passphrase file', maxBytes });
  if (text === undefined) {
    throw new AppError('denied', 'operator.unsafe_file', `There is no passphrase file ${path}.`, {
      hint: `Create it with only the passphrase on its first line, then run: chmod 600 ${path}`,
    });
  }
  const [line = ''] = text.split(/\r?\n/, 1);
  if (line !== '') return line;
  throw new AppError('denied', 'operator.unsafe_file', `The first line of the passphrase file ${path} is empty.`, {
    hint: 'Put the passphrase, and nothing else, on its first line.',
  });
}
