// What a run does with a peer that fails: notes why, goes on without it, tries it again for the next cell, never for the same one.
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { ownNames, type Arm } from '../../bench/arm.ts';
import { direct } from '../../bench/arms/direct.ts';
import type { Cell } from '../../bench/cells.ts';
import { stopAll } from '../../bench/children.ts';
import { runPayload, type Session } from '../../bench/round.ts';

afterAll(stopAll);

const program = fileURLToPath(new URL('../fixtures/fragile-echo.ts', import.meta.url));

function cellOf(name: string, size: number): Cell {
  return { name, sessions: 2, size, warmUp: 1, calls: 4 };
}

const payload = { name: 'any', cells: [cellOf('small', 50), cellOf('large', 5000), cellOf('small again', 60)] };

function session(): Session {
  return { options: { turn: 0, tolerance: 1, limitMs: 1000 }, inTime: () => true, givenUp: new Map() };
}

/** An arm in front of nothing that dies of large calls, and how often it was started. */
function fragile(peer: boolean, startsAfter = Number.POSITIVE_INFINITY): { arm: Arm; starts: () => number } {
  let starts = 0;
  const arm: Arm = {
    name: 'fragile',
    tools: ['read'],
    ...(peer ? { peer: true } : {}),
    start: async () => {
      starts += 1;
      if (starts > startsAfter) throw new Error('it does not start any more');
      const target = { kind: 'pipe' as const, command: process.execPath, args: [program], tools: ownNames };
      return await Promise.resolve({ target, stop: () => Promise.resolve() });
    },
  };
  return { arm, starts: () => starts };
}

test('a peer that fails a cell is noted with the reason and measured again in the next', async () => {
  const { arm, starts } = fragile(true);
  const run = session();
  const laps = await runPayload([direct, arm], 'stdio', payload, run);
  expect(laps.map(({ cell, figures }) => [cell, ...Object.keys(figures)])).toEqual([
    ['small', 'direct', 'fragile'],
    ['large', 'direct'],
    ['small again', 'direct', 'fragile'],
  ]);
  expect(laps[1]?.failures['fragile']).toContain('the program behind the pipes ended with 3');
  expect([laps[0]?.failures, laps[2]?.failures]).toEqual([{}, {}]);
  expect(starts()).toBe(2);

  const [, again] = await runPayload([direct, arm], 'stdio', payload, run);
  expect(again?.failures['fragile']).toContain('ended with 3');
  expect(starts()).toBe(3);
}, 20_000);

test('a peer that cannot be started is in every cell that is left with the reason', async () => {
  const { arm } = fragile(true, 1);
  const laps = await runPayload([direct, arm], 'stdio', payload, session());
  expect(laps.map(({ failures }) => failures['fragile'] ?? 'measured')).toEqual([
    'measured',
    expect.stringContaining('ended with 3'),
    'it does not start any more',
  ]);
}, 20_000);

test('a failure of our own ends the run', async () => {
  await expect(runPayload([direct, fragile(false).arm], 'stdio', payload, session())).rejects.toThrow('ended with 3');
  await expect(runPayload([direct, fragile(false, 0).arm], 'stdio', payload, session())).rejects.toThrow(
    'fragile did not start: it does not start any more',
  );
}, 20_000);
