// The table says of every run and scenario what was counted.
import { expect, test } from 'vitest';
import { columnOf, drawTable } from './table.ts';

const check = (status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'INFO' | 'SKIPPED') => ({ id: 'id', name: 'Name', status });

test('[CONF-3] warnings count as failures, notes as nothing, and a scenario that was not run is empty', () => {
  const one = columnOf('server', 'one', [
    {
      name: 'ping',
      checks: [check('SUCCESS'), check('SUCCESS'), check('FAILURE'), check('WARNING'), check('INFO'), check('SKIPPED')],
    },
    { name: 'tools-list', checks: [check('SUCCESS')] },
  ]);
  const other = columnOf('server', 'other', [{ name: 'ping', checks: [check('SUCCESS')] }]);
  expect(drawTable('Title', [one, other]).split('\n')).toEqual([
    'Title: checks passed/failed',
    '  1  one',
    '  2  other',
    '                      1        2',
    '  ping              2/2      1/0',
    '  tools-list        1/0        ·',
    '  total             3/2      1/0',
  ]);
});
