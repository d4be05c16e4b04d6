import { expect, test } from 'vitest';
import { lineDifference } from './line-difference.ts';

test.each([
  ['the same text', 'a\nb\n', 'a\nb\n', []],
  ['a line added', 'a\nb\n', 'a\nx\nb\n', ['after line 1', '+ x']],
  ['a line added at the end', 'a\n', 'a\nb\n', ['after line 1', '+ b']],
  ['a line changed', 'a\nb\nc', 'a\nx\nc', ['after line 1', '- b', '+ x']],
  ['a line that is there already, once more', 'a\na\n', 'a\na\na\n', ['after line 2', '+ a']],
  ['everything', '', 'x', ['after line 0', '- ', '+ x']],
])('[PROP-4] the difference of %s is told as lines', (_, before, after, lines) => {
  expect(lineDifference(before, after)).toEqual(lines);
});
