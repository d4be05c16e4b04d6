import { expect, test } from 'vitest';
import { createTextTail } from './text-tail.ts';

test('[FLEET-4] the tail is bounded, begins at a line and carries no control sequence', () => {
  const tail = createTextTail(50);
  expect(tail.read()).toBe('');
  for (let line = 0; line < 10_000; line += 1) tail.push(`line ${line}\n`);
  tail.push('\u001b[31mred\u001b[0m \u001b]0;title\u0007and\u202e \u0000plain\r\n');
  expect(tail.read()).toBe('line 9999\nred and plain');
});

test('one huge piece leaves its end', () => {
  const tail = createTextTail(10);
  tail.push(`${'x'.repeat(1_000)}end`);
  expect(tail.read()).toBe('xxxxxxxend');
});
