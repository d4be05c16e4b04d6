// Who is told, and until when.
import { expect, test } from 'vitest';
import { createListeners } from './listeners.ts';

test('everybody who listens is told, in the order they came, until they end it', () => {
  const told: string[] = [];
  const listeners = createListeners<[string, number]>();
  const stop = listeners.add((what, n) => void told.push(`one ${what} ${n}`));
  listeners.add((what) => void told.push(`two ${what}`));
  listeners.tell('a', 1);
  stop();
  stop();
  listeners.tell('b', 2);
  expect(told).toEqual(['one a 1', 'two a', 'two b']);
});
