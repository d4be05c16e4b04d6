// The comparison with the baseline bites, whichever way a result moves.
import { expect, test } from 'vitest';
import { compare, readBaseline, type Baseline } from './baseline.ts';
import type { Check, Scenario } from './suite.ts';

const check = (id: string, status: Check['status'], name = 'Name'): Check => ({ id, name, status, errorMessage: 'it did not' });
const scenario = (name: string, ...checks: readonly Check[]): Scenario => ({ name, checks });
const known = (lines: Record<string, Record<string, string>>): Baseline => ({ server: { '2025-11-25': lines } });
const reason = 'The agent door does not do that yet.';

function problems(scenarios: readonly Scenario[], baseline: Baseline = {}, required = scenarios.map(({ name }) => name)): string[] {
  return compare({ side: 'server', set: '2025-11-25', scenarios, required }, baseline);
}

test('[CONF-3] a failure or a warning that no line excuses is a problem', () => {
  const ran = [scenario('ping', check('ok', 'SUCCESS'), check('must', 'FAILURE'), check('should', 'WARNING', 'Other'))];
  expect(problems(ran)).toEqual([
    'server 2025-11-25 ping: must:Name fails: it did not',
    'server 2025-11-25 ping: should:Other fails: it did not',
  ]);
  expect(problems(ran, known({ ping: { must: reason } }))).toEqual(['server 2025-11-25 ping: should:Other fails: it did not']);
  expect(problems(ran, known({ ping: { must: reason, 'should:Other': reason } }))).toEqual([]);
  expect(problems(ran, known({ ping: { '*': reason } }))).toEqual([]);
  expect(problems(ran, known({ ping: { must: reason, 'should:Name': reason } }))).toHaveLength(2);
});

test('[CONF-3] a line whose check passes, or is no longer reached, has to go', () => {
  const ran = [scenario('ping', check('must', 'SUCCESS')), scenario('pong', check('other', 'SKIPPED'), check('one', 'SUCCESS'))];
  expect(problems(ran, known({ ping: { must: reason }, pong: { '*': reason } }))).toEqual([
    'server 2025-11-25 ping: must passes now; remove it from baseline.json',
    'server 2025-11-25 pong: * passes now; remove it from baseline.json',
  ]);
  expect(problems(ran, known({ gone: { '*': reason } }))).toEqual([
    'server 2025-11-25 gone: it was not run; remove it from baseline.json',
  ]);
});

test('[CONF-3] a required scenario that was not run, or looked at nothing, is a problem', () => {
  expect(problems([], {}, ['ping'])).toEqual(['server 2025-11-25 ping: it is required and was not run']);
  expect(problems([scenario('ping', check('note', 'INFO'), check('later', 'SKIPPED'))])).toEqual([
    'server 2025-11-25 ping: nothing was checked',
  ]);
  expect(problems([scenario('extra', check('later', 'SKIPPED'))], {}, [])).toEqual([]);
});

test('[CONF-3] lines of another side or set excuse nothing, and a line without a reason is a problem', () => {
  const ran = [scenario('ping', check('must', 'FAILURE'))];
  expect(problems(ran, { client: { '2025-11-25': { ping: { must: reason } } } })).toHaveLength(1);
  expect(problems(ran, { server: { '2026-07-28': { ping: { must: reason } } } })).toHaveLength(1);
  expect(problems(ran, known({ ping: { must: ' ' } }))).toEqual(['server 2025-11-25 ping: must needs a reason in baseline.json']);
});

test('[CONF-3] every line of the baseline says why', () => {
  const reasons = Object.values(readBaseline()).flatMap((sets) =>
    Object.values(sets).flatMap((scenarios) => Object.values(scenarios).flatMap((lines) => Object.values(lines))),
  );
  expect(reasons.filter((reason) => reason.length < 20)).toEqual([]);
});
