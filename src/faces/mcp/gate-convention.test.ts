import { describe, expect, test } from 'vitest';
import { AppError, type ErrorKind, type ErrorDetail } from '../../kernel/errors.ts';
import { drawFailure, drawOutput } from './gate-convention.ts';

function envelopeOf(kind: ErrorKind, code: string, detail: ErrorDetail = {}): Record<string, unknown> {
  const { text, isError } = drawFailure(new AppError(kind, code, 'one line', detail), 'tool');
  expect(isError).toBe(true);
  return JSON.parse(text) as Record<string, unknown>;
}

test('[TOOL-7] an output is JSON text with two spaces', () => {
  expect(drawOutput({ a: [1], b: {} })).toEqual({ text: '{\n  "a": [\n    1\n  ],\n  "b": {}\n}', isError: false });
  expect(drawOutput(undefined)).toEqual({ text: '{}', isError: false });
});

describe('[TOOL-7] misuse and unknown tools are ERROR text', () => {
  test.each<[ErrorKind, string, ErrorDetail, string]>([
    ['invalid', 'gateway.misuse', {}, 'ERROR: one line'],
    ['invalid', 'gateway.misuse', { hint: 'Do this.' }, 'ERROR: one line Do this.'],
    ['invalid', 'gateway.unknown_tool', {}, "ERROR: Unknown tool 'tool'"],
    ['invalid', 'policy.bad_capability', {}, 'ERROR: one line'],
    ['invalid', 'slice.of_tomorrow', {}, 'ERROR: one line'],
    ['not_found', 'approvals.not_found', {}, 'ERROR: one line'],
  ])('%s %s', (kind, code, detail, text) => {
    expect(drawFailure(new AppError(kind, code, 'one line', detail), 'tool')).toEqual({ text, isError: true });
  });
});

describe('[TOOL-7] execution and policy failures are the envelope', () => {
  test.each<[ErrorKind, string, ErrorDetail, string, string]>([
    ['denied', 'policy.denied', { data: { deny: 'no_rule' } }, 'missing_scope', 'request_capability'],
    ['denied', 'policy.denied', { data: { deny: 'no_policy' } }, 'policy_denied', 'human'],
    ['denied', 'policy.denied', { data: { deny: 'ceiling_blocked', hard: true } }, 'policy_denied', 'human'],
    ['denied', 'policy.denied', {}, 'policy_denied', 'human'],
    ['unavailable', 'policy.locked', {}, 'policy_denied', 'human'],
    ['denied', 'approvals.pending', {}, 'missing_scope', 'request_capability'],
    ['denied', 'approvals.denied', { retryAfterMs: 59_001 }, 'policy_denied', 'human'],
    ['limited', 'approvals.too_many', {}, 'rate_limited', 'wait'],
    ['limited', 'gateway.rate_limited', {}, 'rate_limited', 'wait'],
    ['denied', 'agents.suspended', {}, 'policy_denied', 'human'],
    ['denied', 'agents.revoked', {}, 'policy_denied', 'human'],
    ['unavailable', 'fleet.start_failed', {}, 'upstream_down', 'diagnose'],
    ['unavailable', 'fleet.circuit_open', { retryAfterMs: 30_000 }, 'upstream_down', 'wait'],
    ['unavailable', 'fleet.exited', {}, 'upstream_down', 'diagnose'],
    ['unavailable', 'fleet.timeout', {}, 'upstream_down', 'diagnose'],
    ['unavailable', 'fleet.timeout', { data: { sent: false } }, 'upstream_down', 'wait'],
    ['unavailable', 'fleet.down', { retryAfterMs: 1_500 }, 'upstream_down', 'wait'],
    ['unavailable', 'fleet.failed', { data: { sent: true } }, 'upstream_down', 'diagnose'],
    ['unavailable', 'fleet.unreachable', { data: { sent: false } }, 'upstream_down', 'wait'],
    ['unavailable', 'fleet.refused', { retryAfterMs: 7_000 }, 'upstream_down', 'diagnose'],
    ['unavailable', 'fleet.session_lost', { data: { sent: false } }, 'upstream_down', 'wait'],
    ['unavailable', 'fleet.auth_broken', {}, 'auth_broken', 'human'],
    ['limited', 'fleet.overloaded', {}, 'rate_limited', 'wait'],
    ['denied', 'fleet.quarantined', {}, 'policy_denied', 'human'],
    ['unavailable', 'audit.unavailable', {}, 'policy_denied', 'human'],
    ['limited', 'slice.of_tomorrow', {}, 'rate_limited', 'wait'],
  ])('%s %s %j is %s and %s', (kind, code, detail, envelopeKind, next) => {
    const envelope = envelopeOf(kind, code, detail);
    expect(envelope).toMatchObject({ error: true, kind: envelopeKind, message: 'one line', next_action: next });
    expect(envelope['next_step']).toMatch(/^[A-Z].*[^ ]$/);
    expect(envelope['retry_after_s']).toBe(detail.retryAfterMs === undefined ? undefined : Math.ceil(detail.retryAfterMs / 1000));
    const order = ['error', 'kind', 'message', 'retry_after_s', 'next_action', 'next_step'];
    expect(Object.keys(envelope)).toEqual(order.filter((key) => key in envelope));
  });

  test('the hint of the error is the next step, where there is one', () => {
    expect(envelopeOf('denied', 'approvals.pending', { hint: 'Ask the human to run: scopegate approve 1.' })).toMatchObject({
      next_step: 'Ask the human to run: scopegate approve 1.',
    });
  });

  test('a wait of less than a second is told as one', () => {
    expect(envelopeOf('limited', 'gateway.rate_limited', { retryAfterMs: 3 })).toMatchObject({ retry_after_s: 1 });
  });
});

test.each<[ErrorKind, string]>([
  ['internal', 'kernel.unexpected'],
  ['internal', 'policy.denied'],
  ['unavailable', 'platform.database_failed'],
  ['internal', '__proto__'],
])('[TOOL-7] of %s %s nothing is told but that a human is needed', (kind, code) => {
  const { text } = drawFailure(new AppError(kind, code, 'password=hunter2', { hint: 'cat /etc/secret' }), 'tool');
  expect(JSON.parse(text)).toMatchObject({ error: true, kind: 'policy_denied', next_action: 'human' });
  expect(text).not.toMatch(/hunter2|secret/);
});
