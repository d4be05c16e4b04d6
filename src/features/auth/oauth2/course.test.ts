// The course of renewals as a machine: what follows from any series of answers.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { afterFailure, afterRefusal, gravityOf, mostFailures, renewalIn, restsUntil, wellRenewed, type Course } from './course.ts';

const failures = fc.array(fc.record({ fatal: fc.boolean(), jitter: fc.double({ min: 0, max: 1, noNaN: true }) }), {
  maxLength: 40,
});

test('[OAUTH-6] no series of failures ends a login, and rests grow from 5 s to 15 min', () => {
  fc.assert(
    fc.property(failures, (series) => {
      let course: Course = wellRenewed;
      for (const [at, { fatal, jitter }] of series.entries()) {
        course = afterFailure(course, { why: 'down', fatal, at, jitter });
        expect(['backoff', 'circuit_open']).toContain(course.state);
        const rest = (course.state === 'ok' || course.state === 'needs_reauth' ? 0 : course.retryAt) - at;
        expect(rest).toBeGreaterThanOrEqual(5_000);
        expect(rest).toBeLessThanOrEqual(15 * 60_000 * 1.1);
      }
    }),
  );
});

test('[OAUTH-7] the fifth failure or a final one lets calls poke it every 5 s', () => {
  let course: Course = wellRenewed;
  for (let failure = 1; failure <= mostFailures; failure += 1) {
    course = afterFailure(course, { why: 'down', fatal: false, at: 1_000, jitter: 0 });
    expect(course).toMatchObject({ state: failure === mostFailures ? 'circuit_open' : 'backoff', failures: failure });
  }
  expect(restsUntil(course)).toBe(6_000);
  expect(afterFailure(wellRenewed, { why: 'no', fatal: true, at: 0, jitter: 0 })).toMatchObject({
    state: 'circuit_open',
    failures: 1,
  });
});

test('[OAUTH-8] what ends a login is said by the server, and counted', () => {
  expect(['invalid_grant', 'invalid_client', 'temporarily_unavailable', 'invalid_scope'].map(gravityOf)).toEqual([
    'final',
    'final',
    'passing',
    'fatal',
  ]);
  expect(afterRefusal(wellRenewed, 'no')).toEqual({ state: 'needs_reauth', failures: 1, why: 'no' });
});

test('[OAUTH-2] a renewal comes at 72 to 88 % of what is left, and never at once', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1_000, max: 10 ** 10 }), fc.double({ min: 0, max: 1, noNaN: true }), (left, jitter) => {
      const wait = renewalIn(left, jitter);
      expect(wait).toBeGreaterThanOrEqual(Math.floor(left * 0.72));
      expect(wait).toBeLessThanOrEqual(Math.ceil(left * 0.88));
    }),
  );
  expect(renewalIn(-5, 0)).toBe(250);
});
