import { expect, test } from 'vitest';
import { drawPlain } from './table.ts';

test('a list of objects is a table; deep columns are left to --json', () => {
  const rows = [
    { id: 1, agentName: 'coder', args: { a: 1 }, tags: ['x', 'y'] },
    { id: 22, agentName: null, args: { a: 2 }, tags: [] },
  ];
  expect(drawPlain(rows)).toBe(['ID  AGENT NAME  TAGS', '1   coder       x, y', '22  -           -'].join('\n'));
});

test('an object is key and value, with nested objects and lists below their key', () => {
  expect(drawPlain({ ok: true, audit: { records: 3 }, agent_url: 'http://x', list: [{ a: 'b' }], none: {} })).toBe(
    ['ok         yes', 'agent url  http://x', 'none       -', 'audit', '  records  3', 'list', '  A', '  b'].join('\n'),
  );
});

test('nothing is said as nothing', () => {
  expect([drawPlain([]), drawPlain(undefined), drawPlain(null), drawPlain('x'), drawPlain(['a', 'b'])]).toEqual([
    'nothing to show',
    'done',
    'done',
    'x',
    'a\nb',
  ]);
});

test('[CLI-1] a cell cannot break its row, move the cursor or fake another row', () => {
  const drawn = drawPlain([{ reason: 'x\nAPPROVED\u001b[2K\u202e' }]);
  expect(drawn).toBe('REASON\nx\\nAPPROVED\\u{1b}[2K\\u{202e}');
  expect(drawPlain({ 'k\u001b': 'v\u009b' })).toBe('k\\u{1b}  v\\u{9b}');
});
