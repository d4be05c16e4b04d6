// Where values are searched for and how: every spelling that a program would use, every file of a folder, every process of the machine.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The last line of a key may be a few letters, which are found anywhere. */
const shortestPart = 12;

/** Whatever a text holds of these values, in any spelling a program would use. */
export function traces(text: string, values: readonly string[]): string[] {
  return values.flatMap((value) => {
    const lines = value.split('\n').filter((line) => !line.startsWith('-----') && line.length >= shortestPart);
    const parts = [value, ...lines];
    const forms = parts.flatMap((part) => [
      part,
      JSON.stringify(part).slice(1, -1),
      JSON.stringify(JSON.stringify(part)).slice(3, -3),
      encodeURIComponent(part),
      Buffer.from(part).toString('hex'),
      ...['', 'x', 'xx'].map((before) =>
        Buffer.from(before + part)
          .toString('base64')
          .slice(4, -4),
      ),
      ...['', 'x', 'xx'].map((before) =>
        Buffer.from(before + part)
          .toString('base64url')
          .slice(4, -4),
      ),
      part.replaceAll(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
    ]);
    return forms.filter((form) => text.includes(form)).map((form) => `${form} in …${around(text, form)}…`);
  });
}

function around(text: string, form: string): string {
  const at = text.indexOf(form);
  return text.slice(Math.max(0, at - 120), at + 60);
}

export function everyByte(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'))
    .join('\n');
}

/** Of every process of this machine that may be seen. */
export function argumentsOfAll(): string {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
      } catch {
        return '';
      }
    })
    .join('\n');
}
