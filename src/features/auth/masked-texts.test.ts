import { expect, test } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { createMaskedTexts } from './masked-texts.ts';

const day = 24 * 3_600_000;

test('[REDACT-1] what an upstream was given is masked for a day after another took its place, whoever else has it', () => {
  const clock = createFakeClock();
  const masked = createMaskedTexts(clock);
  expect(masked.search('up')).toBeUndefined();
  masked.remember('up', 'a', ['value-before-1']);
  masked.remember('up', 'b', ['value-before-1', 'value-now-0002']);
  expect(masked.search('up')).toBe(masked.search('up'));
  masked.release('up', 'a');
  masked.release('up', 'b');
  masked.remember('up', 'c', ['value-now-0002']);
  clock.advance(day - 1);
  expect(masked.search('up')?.maskText('value-before-1 value-now-0002')).toBe('[REDACTED:secret] [REDACTED:secret]');
  clock.advance(2);
  masked.remember('up', 'd', ['value-now-0002']);
  expect(masked.of('up')).toEqual(['value-now-0002']);
  // Another upstream was given nothing.
  expect(masked.search('other')).toBeUndefined();
});

test('[REDACT-1] of a key in lines and of a file in JSON the long parts are masked one by one', () => {
  const masked = createMaskedTexts(createFakeClock());
  const lines = ['MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw', 'ggSjAgEAAoIBAQC7VJTUt9Us8cKjMzEfYyji'];
  const file = { type: 'service_account', private_key: 'k3yk3yk3yk3yk3yk3yk3yk3yk3y', port: 1 };
  masked.remember('up', 'a', [
    `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`,
    JSON.stringify(file),
  ]);
  const said = JSON.stringify({
    first: lines[0],
    again: `x ${lines[1]} y`,
    structure: { ...file, type: 'renamed' },
    plain: '-----BEGIN PRIVATE KEY-----',
  });
  const shown = JSON.parse(masked.search('up')?.maskJson(said) ?? '') as Record<string, unknown>;
  expect(shown).toEqual({
    first: '[REDACTED:secret]',
    again: 'x [REDACTED:secret] y',
    structure: { ...file, type: 'renamed', private_key: '[REDACTED:secret]' },
    plain: '-----BEGIN PRIVATE KEY-----',
  });
});

test('[REDACT-3] tokens that are minted all day do not make the search grow', () => {
  const masked = createMaskedTexts(createFakeClock());
  for (let count = 0; count < 2_000; count += 1) {
    masked.remember('up', `c${count}`, [`token-number-${String(count).padStart(5, '0')}`]);
    masked.release('up', `c${count}`);
  }
  expect(masked.of('up').length).toBeLessThanOrEqual(513);
  expect(masked.of('up')).toContain('token-number-01999');
});
