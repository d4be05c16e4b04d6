import { expect, test } from 'vitest';
import { splitWords } from './split-words.ts';

test.each([
  ['npx -y server /tmp', ['npx', '-y', 'server', '/tmp']],
  ['  a\t b ', ['a', 'b']],
  [`run "two words" 'and $HOME' ""`, ['run', 'two words', 'and $HOME', '']],
  ['a\\ b c"d e"f', ['a b', 'cd ef']],
  [`'it\\'`, ['it\\']],
  ['', []],
])('%s is cut into words', (line, words) => {
  expect(splitWords(line)).toEqual(words);
});

test('an open quote is no command', () => {
  expect(splitWords('echo "hello')).toBeUndefined();
});
