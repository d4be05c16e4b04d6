import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  admit,
  circuitFailures,
  circuitOf,
  circuitOpenMs,
  mayStart,
  newMember,
  next,
  type Member,
  type MemberEvent,
} from './member.ts';

const run = (events: readonly MemberEvent[], from: Member = newMember): Member => events.reduce(next, from);
const ready = run([{ kind: 'start_begun' }, { kind: 'start_succeeded', at: 0 }]);
const failCalls = (times: number, at = 0): MemberEvent[] =>
  Array.from({ length: times }, () => ({ kind: 'call_failed', at, probe: false }));

describe('a member', () => {
  test('[FLEET-2] an exit sets one retry instant, drawn once, and it never moves by being looked at', () => {
    const down = next(ready, { kind: 'exited', at: 1_000, jitter: 0.5 });
    expect(down).toMatchObject({ phase: 'backoff', failures: 1, retryAllowedAt: 1_375 });
    const waits = [1_000, 1_100, 1_374].map((now) => admit(down, now));
    expect(waits).toEqual([375, 275, 1].map((retryAfterMs) => ({ kind: 'refuse', why: 'backoff', retryAfterMs })));
    expect(admit(down, 1_375)).toEqual({ kind: 'pass', probe: false });
  });

  test('[FLEET-2] delays double from 500 ms with half of each certain, whatever is drawn', () => {
    for (const jitter of [0, 0.999]) {
      let member: Member = newMember;
      const delays: number[] = [];
      for (let failure = 1; failure < circuitFailures; failure += 1) {
        member = run([{ kind: 'start_begun' }, { kind: 'start_failed', at: 0, jitter }], member);
        delays.push(member.retryAllowedAt);
      }
      delays.forEach((delay, at) => {
        expect(delay).toBeGreaterThanOrEqual(250 * 2 ** at);
        expect(delay).toBeLessThanOrEqual(500 * 2 ** at);
      });
    }
  });

  test('[FLEET-3] the fifth failure in a row opens the circuit for 30 s, not the fourth', () => {
    const four = run(failCalls(4), ready);
    expect(circuitOf(four, 0)).toEqual({ state: 'closed', failures: 4 });
    expect(admit(four, 0)).toEqual({ kind: 'pass', probe: false });
    const five = run(failCalls(1, 100), four);
    expect(circuitOf(five, 100)).toEqual({ state: 'open', failures: 5 });
    expect(admit(five, 100 + circuitOpenMs - 1)).toEqual({ kind: 'refuse', why: 'circuit', retryAfterMs: 1 });
    expect(circuitOf(five, 100 + circuitOpenMs).state).toBe('half_open');
  });

  test('[FLEET-3] half open lets exactly one through; it closes or opens the circuit, or hands the turn back', () => {
    const now = circuitOpenMs;
    const half = run(failCalls(5), ready);
    expect(admit(half, now)).toEqual({ kind: 'pass', probe: true });
    const probing = next(half, { kind: 'probe_taken' });
    expect(admit(probing, now)).toMatchObject({ kind: 'refuse', why: 'circuit' });
    expect(admit(next(probing, { kind: 'probe_released' }), now)).toEqual({ kind: 'pass', probe: true });
    expect(circuitOf(next(probing, { kind: 'call_succeeded' }), now)).toEqual({ state: 'closed', failures: 0 });
    const again = next(probing, { kind: 'call_failed', at: now, probe: true });
    expect(circuitOf(again, now).state).toBe('open');
    expect(admit(again, 2 * now)).toEqual({ kind: 'pass', probe: true });
  });

  test('[FLEET-3] a start does not excuse calls that crash, so that crash and restart cannot go on for ever', () => {
    let member = ready;
    for (let round = 0; round < circuitFailures; round += 1) {
      member = run([{ kind: 'exited', at: 0, jitter: 0 }, { kind: 'start_begun' }, { kind: 'start_succeeded', at: 0 }], member);
    }
    expect(circuitOf(member, 0).state).toBe('open');
  });

  test('a start ends a streak of failed starts, and a long quiet service forgives what was before', () => {
    const failing: MemberEvent[] = Array.from({ length: 6 }, () => ({ kind: 'start_failed', at: 0, jitter: 0 }));
    expect(run([...failing, { kind: 'start_begun' }, { kind: 'start_succeeded', at: 0 }]).failures).toBe(0);
    const worn = run(failCalls(3), ready);
    expect(next(worn, { kind: 'exited', at: 59_999, jitter: 0 }).failures).toBe(4);
    expect(next(worn, { kind: 'exited', at: 60_000, jitter: 0 }).failures).toBe(1);
  });

  test('no sequence of events lets two probes out, refuses for longer than 30 s, or passes while the circuit is open', () => {
    const kind = fc.constantFrom(
      'start' as const,
      'exited' as const,
      'call_failed' as const,
      'call_succeeded' as const,
      'stopped' as const,
      'recycled' as const,
    );
    const jitter = fc.double({ min: 0, max: 0.999, noNaN: true });
    const step = fc.record({ kind, wait: fc.nat(40_000), jitter, fails: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let model: Model = { member: newMember, now: 0, probeOut: false, streak: 0 };
        for (const one of steps) {
          model = { ...model, now: model.now + one.wait };
          expect(broken(model)).toEqual([]);
          model = play(probed(model), one);
          expect(model.member.failures).toBe(model.streak);
        }
      }),
    );
  });
});

/** What the state machine must agree with: whether a probe is out, and how many failures came in a row. */
interface Model {
  readonly member: Member;
  readonly now: number;
  readonly probeOut: boolean;
  readonly streak: number;
}

interface Step {
  readonly kind: 'start' | 'exited' | 'call_failed' | 'call_succeeded' | 'stopped' | 'recycled';
  readonly jitter: number;
  readonly fails: boolean;
}

function broken({ member, now, probeOut, streak }: Model): string[] {
  const admission = admit(member, now);
  const { state } = circuitOf(member, now);
  return [
    ...(admission.kind === 'refuse' && 'retryAfterMs' in admission && admission.retryAfterMs > circuitOpenMs
      ? ['refused for too long']
      : []),
    ...(admission.kind === 'pass' && state === 'open' ? ['passed an open circuit'] : []),
    ...(admission.kind === 'pass' && admission.probe && probeOut ? ['two probes'] : []),
    ...(admission.kind === 'pass' && admission.probe !== streak >= circuitFailures
      ? ['a probe without need, or none in need']
      : []),
    ...(streak < circuitFailures && state !== 'closed' ? ['open without five failures'] : []),
  ];
}

/** Lets the probe out when there is one to be had. */
function probed(model: Model): Model {
  const admission = admit(model.member, model.now);
  if (admission.kind !== 'pass' || !admission.probe) return model;
  return { ...model, probeOut: true, member: next(model.member, { kind: 'probe_taken' }) };
}

function play(model: Model, { kind, jitter, fails }: Step): Model {
  const { member, now, probeOut, streak } = model;
  const refused = admit(member, now).kind === 'refuse' && !probeOut;
  if (kind === 'call_failed' && !refused) {
    return { ...model, member: next(member, { kind, at: now, probe: probeOut }), probeOut: false, streak: streak + 1 };
  }
  if (kind === 'call_succeeded' && !refused) return { ...model, member: next(member, { kind }), probeOut: false, streak: 0 };
  if (kind === 'stopped') return { ...model, member: next(member, { kind }), probeOut: false, streak: 0 };
  if (kind === 'start' && mayStart(member, now)) {
    const outcome: MemberEvent = fails ? { kind: 'start_failed', at: now, jitter } : { kind: 'start_succeeded', at: now };
    const started = run([{ kind: 'start_begun' }, outcome], member);
    const cured = !fails && member.startCures;
    return { ...model, member: started, streak: cured ? 0 : streak + (fails ? 1 : 0) };
  }
  if (member.phase !== 'ready') return model;
  if (kind === 'exited') {
    const streakBefore = now - member.readyAt >= 60_000 ? 0 : streak;
    return { ...model, member: next(member, { kind, at: now, jitter }), probeOut: false, streak: streakBefore + 1 };
  }
  return kind === 'recycled' ? { ...model, member: next(member, { kind, at: now, jitter }) } : model;
}
