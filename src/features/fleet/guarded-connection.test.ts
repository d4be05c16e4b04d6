import { expect, test } from 'vitest';
import type { ClientHost } from '../../kernel/client-host.ts';
import { AppError } from '../../kernel/errors.ts';
import { createValueSearch } from '../../lib/value-search.ts';
import { createGuard } from './guarded-connection.ts';

const secret = 'cAnArY-in-the-mine';
const guard = createGuard(() => createValueSearch([secret], '[X]'));

test('[REDACT-1] an error is masked in its words, its facts and what lies under it; one without a finding is the same object', () => {
  const inner = new AppError('unavailable', 'fleet.refused', `it said ${secret}`);
  const given = new AppError('unavailable', 'fleet.start_failed', 'It did not start.', {
    hint: `try without ${secret}`,
    retryAfterMs: 5,
    data: { status: 500, rpc: { message: secret }, stderr_tail: `${secret.slice(-8)} is the rest, and ${secret}` },
    cause: inner,
  });
  const masked = guard.error(given);
  expect(masked).toMatchObject({
    kind: 'unavailable',
    code: 'fleet.start_failed',
    hint: 'try without [X]',
    retryAfterMs: 5,
    data: { status: 500, rpc: { message: '[X]' }, stderr_tail: '[X] is the rest, and [X]' },
  });
  expect(masked.cause).toBeUndefined();
  const deep = new AppError('unavailable', 'fleet.failed', 'It failed.', {
    cause: new Error('outer', { cause: new Error(secret) }),
  });
  expect(guard.error(deep).cause).toBeUndefined();
  const plain = new AppError('unavailable', 'fleet.failed', 'It failed.', { data: { sent: true }, cause: new Error('reset') });
  expect(guard.error(plain)).toBe(plain);
});

test('[REDACT-1] a client is the same client to the upstream each time, with what it declares now', () => {
  let capabilities = { roots: {} };
  const host: ClientHost = {
    get capabilities() {
      return capabilities;
    },
    info: { name: 'c' },
    ask: () => Promise.reject(new Error('nobody asks')),
    notify: () => undefined,
  };
  const guarded = guard.host(host);
  expect(guard.host(host)).toBe(guarded);
  expect(guard.host({ ...host })).not.toBe(guarded);
  capabilities = { roots: {}, sampling: {} } as typeof capabilities;
  expect(guarded.capabilities).toBe(capabilities);
});
