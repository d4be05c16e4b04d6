// Which characters a capability may hold at all, and what to say about the others. Refuses everything a reader could not see, could
// mistake for something else, or could take for a metacharacter of some other pattern language.
import { AppError } from '../../kernel/errors.ts';
import { printable } from '../../lib/printable.ts';

/** Upstream and action; the resource may have 512 characters (DESIGN §2). */
export const maxPart = 64;
export const maxResource = 512;
/** UTF-16 units of a whole capability or rule: checked first, so that nothing longer is ever looked at. */
const maxText = 2 * (maxPart + maxPart + maxResource + 2);

// Controls, format characters (bidi, zero-width, tags), unassigned, private use, lone surrogates, separators other than the plain
// space, and whatever Unicode lets a renderer leave out.
const unseen = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/u;

const foreign = /[?[\]!()|^$\\]/u;

const foreignHints: Readonly<Record<string, string>> = {
  '!': "There is no negation: name what is meant, and put the exceptions under 'deny'.",
  '(': 'There are no groups; only `*` is special.',
  ')': 'There are no groups; only `*` is special.',
  '|': 'One capability at a time; there is no "or" here.',
};

export function badCapability(message: string, hint: string): AppError {
  return new AppError('invalid', 'policy.bad_capability', message, { hint });
}

/** Throws `policy.bad_capability` for text no capability and no pattern may hold. `what` names it in the message. */
export function checkCharacters(text: string, what: string): void {
  if (text === '')
    throw badCapability(`The ${what} is empty.`, 'Write <upstream>:<action>:<resource>, e.g. github:call:get_issue.');
  if (text.length > maxText) throw badCapability(`The ${what} is too long.`, `A resource has at most ${maxResource} characters.`);
  const hidden = unseen.exec(text)?.[0];
  if (hidden !== undefined) {
    throw badCapability(
      `The ${what} holds the character ${codePoint(hidden)}, which cannot be seen or be told from another.`,
      'Use visible characters and plain spaces; percent-encode anything else.',
    );
  }
  if (text !== text.normalize('NFC')) {
    throw badCapability(`The ${what} is not in Unicode normalization form C.`, 'Send composed characters (NFC), e.g. é as U+00E9.');
  }
  if (text.startsWith(' ') || text.endsWith(' ')) {
    throw badCapability(`The ${what} begins or ends with a space.`, 'Remove the space.');
  }
  const meta = foreign.exec(text)?.[0];
  if (meta !== undefined) {
    throw badCapability(
      `The ${what} '${printable(text)}' holds '${meta}', which capabilities do not know.`,
      foreignHints[meta] ??
        `Only '*' is special; where a name really contains '${meta}', write it percent-encoded (${percent(meta)}).`,
    );
  }
}

const codePoint = (character: string): string => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

const percent = (character: string): string => `%${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}`;
