import { expect, test } from 'vitest';
import { createTurns } from './turns.ts';

test('turns come in the order they were asked for, one at a time', async () => {
  const takeTurn = createTurns();
  const events: string[] = [];
  const work = async (name: string): Promise<void> => {
    const giveBack = await takeTurn();
    events.push(`${name} starts`);
    await Promise.resolve();
    events.push(`${name} ends`);
    giveBack();
    giveBack();
  };
  await Promise.all(['a', 'b', 'c'].map(work));
  expect(events).toEqual(['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends']);
});
