// The one state machine of an upstream member, as a pure function: stopped → starting → ready → backoff → starting …, and login_needed and
// waiting_for_secrets, which only a person ends. Health, backoff and circuit are views of these few facts. Knows no process, no timer and no tool; instants are milliseconds of a monotonic clock.
import type { CircuitView } from './model.ts';

/** Gate contract, scopegate_upstream_health: five consecutive failures open the circuit for 30 s, then a single probe decides. */
export const circuitFailures = 5;
export const circuitOpenMs = 30_000;
const backoffBaseMs = 500;
const backoffCapMs = 30_000;
/** Whoever served this long without a call failing starts with a clean slate. */
const stableMs = 60_000;

export interface Member {
  readonly phase: 'stopped' | 'starting' | 'ready' | 'backoff' | 'login_needed' | 'waiting_for_secrets';
  /** Consecutive failures; only a success of the same weight ends the streak. */
  readonly failures: number;
  /** True while every failure of the streak was a failed start, so that a start cures it; else only an answered call does. */
  readonly startCures: boolean;
  /** The one instant before which nothing is tried; drawn once per failure. */
  readonly retryAllowedAt: number;
  readonly readyAt: number;
  /** The half-open probe is out. */
  readonly probing: boolean;
  readonly starts: number;
}

export const newMember: Member = {
  phase: 'stopped',
  failures: 0,
  startCures: true,
  retryAllowedAt: 0,
  readyAt: 0,
  probing: false,
  starts: 0,
};

/** `jitter` is uniform in [0, 1), drawn by the driver, so that this stays a function. */
export type MemberEvent =
  | { readonly kind: 'start_begun' }
  | { readonly kind: 'start_succeeded'; readonly at: number }
  | { readonly kind: 'start_failed'; readonly at: number; readonly jitter: number }
  /** Not the upstream's doing: we are stopping, or nothing may be recorded now. */
  | { readonly kind: 'start_abandoned' }
  | { readonly kind: 'exited'; readonly at: number; readonly jitter: number }
  /** We ended a process that is of no use any more; its failures were counted when they happened, the wait is drawn now. */
  | { readonly kind: 'recycled'; readonly at: number; readonly jitter: number }
  | { readonly kind: 'stopped' }
  /** The upstream forgot its session, which is no failure: the next one may begin at once. */
  | { readonly kind: 'session_lost' }
  /** It refused our login. Trying again by itself would only lock an account. */
  | { readonly kind: 'login_refused' }
  /** What it is logged in with is not in the vault. */
  | { readonly kind: 'secret_missing' }
  | { readonly kind: 'probe_taken' }
  /** A probe that decided nothing: its caller left, or it never reached the upstream. */
  | { readonly kind: 'probe_released' }
  | { readonly kind: 'call_succeeded' }
  | { readonly kind: 'call_failed'; readonly at: number; readonly probe: boolean };

export function next(member: Member, event: MemberEvent): Member {
  switch (event.kind) {
    case 'start_begun':
      return { ...member, phase: 'starting', starts: member.starts + 1 };
    case 'start_succeeded':
      return { ...member, phase: 'ready', readyAt: event.at, ...(member.startCures ? { failures: 0, probing: false } : {}) };
    case 'start_failed':
      return failed({ ...member, phase: 'backoff' }, event.at, event.jitter);
    case 'start_abandoned':
      return { ...member, phase: 'stopped' };
    case 'exited': {
      const forgiven = event.at - member.readyAt >= stableMs ? { ...member, failures: 0 } : member;
      return failed({ ...forgiven, phase: 'backoff', startCures: false }, event.at, event.jitter);
    }
    case 'recycled':
      return {
        ...member,
        phase: 'backoff',
        retryAllowedAt: Math.max(member.retryAllowedAt, event.at + delayAfter(member.failures, event.jitter)),
      };
    case 'stopped':
      return { ...newMember, starts: member.starts };
    case 'session_lost':
      return { ...member, phase: 'stopped' };
    case 'login_refused':
      return { ...member, phase: 'login_needed', probing: false };
    case 'secret_missing':
      return { ...member, phase: 'waiting_for_secrets', probing: false };
    case 'probe_taken':
      return { ...member, probing: true };
    case 'probe_released':
      return { ...member, probing: false };
    case 'call_succeeded':
      return { ...member, failures: 0, startCures: true, probing: false };
    case 'call_failed':
    default: {
      const counted = {
        ...member,
        failures: member.failures + 1,
        startCures: false,
        probing: event.probe ? false : member.probing,
      };
      return counted.failures >= circuitFailures ? { ...counted, retryAllowedAt: event.at + circuitOpenMs } : counted;
    }
  }
}

function failed(member: Member, at: number, jitter: number): Member {
  const failures = member.failures + 1;
  return { ...member, failures, probing: false, retryAllowedAt: at + delayAfter(failures, jitter) };
}

/** Equal jitter: half the delay is certain, half is drawn; from the fifth failure on the circuit's 30 s. */
function delayAfter(failures: number, jitter: number): number {
  if (failures >= circuitFailures) return circuitOpenMs;
  const ceiling = Math.min(backoffCapMs, backoffBaseMs * 2 ** Math.max(0, failures - 1));
  return Math.ceil((ceiling * (1 + jitter)) / 2);
}

export type Admission =
  /** `probe`: this call is the one that decides about an open circuit. */
  | { readonly kind: 'pass'; readonly probe: boolean }
  | { readonly kind: 'refuse'; readonly why: 'circuit' | 'backoff'; readonly retryAfterMs: number }
  /** Nothing is tried until a person says so. */
  | { readonly kind: 'refuse'; readonly why: 'login' }
  /** Until what it is logged in with is in the vault. */
  | { readonly kind: 'refuse'; readonly why: 'secrets' };

/** While a probe is out nobody knows how long it takes; this is when to ask again. */
const probePatienceMs = 1_000;

/** May a call go on now? A member that is down is started by whoever passes. */
export function admit(member: Member, now: number): Admission {
  if (member.phase === 'login_needed') return { kind: 'refuse', why: 'login' };
  if (member.phase === 'waiting_for_secrets') return { kind: 'refuse', why: 'secrets' };
  const wait = member.retryAllowedAt - now;
  if (member.failures >= circuitFailures) {
    if (wait > 0) return { kind: 'refuse', why: 'circuit', retryAfterMs: wait };
    if (member.probing) return { kind: 'refuse', why: 'circuit', retryAfterMs: probePatienceMs };
    return { kind: 'pass', probe: true };
  }
  if (member.phase === 'backoff' && wait > 0) return { kind: 'refuse', why: 'backoff', retryAfterMs: wait };
  return { kind: 'pass', probe: false };
}

/** May it be started without a call asking for it? */
export function mayStart(member: Member, now: number): boolean {
  return (member.phase === 'stopped' || member.phase === 'backoff') && now >= member.retryAllowedAt && !member.probing;
}

export function circuitOf(member: Member, now: number): CircuitView {
  if (member.failures < circuitFailures) return { state: 'closed', failures: member.failures };
  return { state: now < member.retryAllowedAt ? 'open' : 'half_open', failures: member.failures };
}
