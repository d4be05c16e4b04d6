import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { detectors } from './detectors.ts';

const mask = (candidate: string): string => `<${candidate}>`;

/** The digits from the right, every second one doubled and added digit by digit (ISO/IEC 7812-1, annex B). */
function passesLuhn(candidate: string): boolean {
  const digits = candidate.replaceAll(/\D/g, '').split('').toReversed();
  const parts = digits.flatMap((digit, index) => String(Number(digit) * (index % 2 === 0 ? 1 : 2)).split(''));
  return parts.reduce((sum, part) => sum + Number(part), 0) % 10 === 0;
}

/** One expression for each that looks at every character: the reference for every shortcut. */
const thorough = {
  email: (text: string) =>
    text.replaceAll(/[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}/g, mask),
  card: (text: string) =>
    text.replaceAll(/(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)/g, (found) => (passesLuhn(found) ? mask(found) : found)),
  phone: (text: string) => text.replaceAll(/\+\d(?:[ ().-]{0,2}\d){7,14}(?!\d)/g, mask),
};

const pieces = fc.oneof(
  fc.constantFrom('4111111111111111', '4111 1111 1111 1111', '5500-0000-0000-0004', '+44 20 7946 0958', '+1 (212) 555-0100', '+'),
  fc.constantFrom('x', ' ', '-', '.', '(', ')', '\n', '0', '7', '  ', '--', '1 1', 'a-1', '+4', '\u{1f600}'),
  fc.constantFrom('ada@example.org', '@', '_', '%a', '@b.c', 'é', '\u00c0', '\u212a', '[', '`', '{', '^'),
  fc.stringMatching(/^[0-9 -]{1,24}$/),
  fc.stringMatching(/^[a-z ]{1,16}$/),
);

test.each(['card', 'phone', 'email'] as const)(
  '[RES-1] looking in few places finds every %s that looking everywhere finds',
  (category) => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
        const text = parts.join('');
        expect(detectors[category].replace(text, mask)).toBe(thorough[category](text));
      }),
      { numRuns: 3_000 },
    );
  },
);

test('[RES-1] a card is found wherever it stands between other characters', () => {
  for (let before = 0; before < 30; before += 1) {
    for (let behind = 0; behind < 30; behind += 1) {
      for (const filling of ['x', '7x']) {
        const [left, right] = [filling.repeat(before), 'y'.repeat(behind)];
        expect(detectors.card.replace(`${left}4222222222222${right}`, mask)).toBe(`${left}<4222222222222>${right}`);
      }
    }
  }
});
