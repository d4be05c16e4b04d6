import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createLog } from './log.ts';
import type { LogLevel } from './log.ts';

function capture(level: LogLevel, isTTY: boolean): { readonly lines: string[]; readonly log: ReturnType<typeof createLog> } {
  const lines: string[] = [];
  return { lines, log: createLog({ level, stream: { isTTY, write: (line) => lines.push(line) } }) };
}

test('a machine gets one JSON object a line', () => {
  const { lines, log } = capture('info', false);
  log.warn('an upstream exited', { upstream: 'github', code: 1 });
  expect(lines).toHaveLength(1);
  expect(lines[0]?.endsWith('\n')).toBe(true);
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    level: 'warn',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
    message: 'an upstream exited',
    upstream: 'github',
    code: 1,
  });
});

test('fields cannot pass for the line’s own time, level or message', () => {
  const { lines, log } = capture('info', false);
  log.info('true', { time: 'x', level: 'error', message: 'false', msg: 'y' });
  const line = lines[0] ?? '';
  expect(line.match(/"(time|level|message)":/g)).toHaveLength(3);
  expect(JSON.parse(line)).toMatchObject({
    level: 'info',
    message: 'true',
    time_: 'x',
    level_: 'error',
    message_: 'false',
    msg: 'y',
  });
});

test('a terminal gets one readable line', () => {
  const { lines, log } = capture('info', true);
  log.error('it broke', { file: '/tmp/a b', times: 3, why: { code: 'x' } });
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d error it broke {2}file="\/tmp\/a b" {2}times=3 {2}why=\{"code":"x"\}\n$/);
});

test('nothing in a line can command a terminal or start another line', () => {
  const { lines, log } = capture('info', true);
  log.info('a\u001b[2Jb\n12:00:00 error forged', { 'k\u202e\u009b': 'v\r\n\u200b' });
  expect(lines).toHaveLength(1);
  expect(lines[0]?.slice(0, -1)).toMatch(/^[\u0020-\u007e]+$/);
});

test('a reader that goes away ends nothing', async () => {
  const stream = new PassThrough();
  const log = createLog({ level: 'info', stream });
  stream.destroy(new Error('write EPIPE'));
  await new Promise((resolve) => stream.once('close', resolve));
  expect(() => log.info('into the void')).not.toThrow();
});

test('what is below the level is not written', () => {
  const { lines, log } = capture('warn', false);
  log.debug('no');
  log.info('no');
  log.warn('yes');
  log.error('yes');
  expect(lines).toHaveLength(2);
  const silent = capture('silent', false);
  silent.log.error('no');
  expect(silent.lines).toEqual([]);
});
