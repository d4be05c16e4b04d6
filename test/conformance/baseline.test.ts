// The comparison with the baseline bites, whichever way a result moves.
import { expect, test } from 'vitest';
import { compare, readBaseline, type Baseline } from './baseline.ts';
import { clientRuns, serverRuns } from './runs.ts';
import type { Check, Scenario } from './suite.ts';

const check = (id: string, status: Check['status'], name = 'Name'): Check => ({ id, name, status, errorMessage: 'it did not' });
const scenario = (name: string, ...checks: readonly Check[]): Scenario => ({ name, checks });
const known = (lines: Record<string, Record<string, string>>): Baseline => ({ 'a run': lines });
const reason = 'The agent door does not do that yet.';

function problems(scenarios: readonly Scenario[], baseline: Baseline = {}, required = scenarios.map(({ name }) => name)): string[] {
  return compare({ run: 'a run', scenarios, required }, baseline);
}

test('[CONF-3] a failure or a warning that no line excuses is a problem', () => {
  const ran = [scenario('ping', check('ok', 'SUCCESS'), check('must', 'FAILURE'), check('should', 'WARNING', 'Other'))];
  expect(problems(ran)).toEqual(['a run, ping: must:Name fails: it did not', 'a run, ping: should:Other fails: it did not']);
  expect(problems(ran, known({ ping: { must: reason } }))).toEqual(['a run, ping: should:Other fails: it did not']);
  expect(problems(ran, known({ ping: { must: reason, 'should:Other': reason } }))).toEqual([]);
  expect(problems(ran, known({ ping: { '*': reason } }))).toEqual([]);
  expect(problems(ran, known({ ping: { must: reason, 'should:Name': reason } }))).toHaveLength(2);
});

test('[CONF-3] a line whose check passes, or is no longer reached, has to go', () => {
  const ran = [scenario('ping', check('must', 'SUCCESS')), scenario('pong', check('other', 'SKIPPED'), check('one', 'SUCCESS'))];
  expect(problems(ran, known({ ping: { must: reason }, pong: { '*': reason } }))).toEqual([
    'a run, ping: must passes now; remove it from baseline.json',
    'a run, pong: * passes now; remove it from baseline.json',
  ]);
  expect(problems(ran, known({ gone: { '*': reason } }))).toEqual(['a run, gone: it was not run; remove it from baseline.json']);
});

test('[CONF-3] a required scenario that was not run, or looked at nothing, is a problem', () => {
  expect(problems([], {}, ['ping'])).toEqual(['a run, ping: it is required and was not run']);
  expect(problems([scenario('ping', check('note', 'INFO'), check('later', 'SKIPPED'))])).toEqual([
    'a run, ping: nothing was checked',
  ]);
  expect(problems([scenario('extra', check('later', 'SKIPPED'))], {}, [])).toEqual([]);
});

test('[CONF-3] lines of another run excuse nothing, and a line without a reason is a problem', () => {
  const ran = [scenario('ping', check('must', 'FAILURE'))];
  expect(problems(ran, { 'another run': { ping: { must: reason } } })).toHaveLength(1);
  expect(problems(ran, known({ ping: { must: ' ' } }))).toEqual(['a run, ping: must needs a reason in baseline.json']);
});

test('[CONF-3] every run of the baseline is one that is made', () => {
  const made = new Set([...serverRuns, ...clientRuns].map(({ name }) => name));
  expect(Object.keys(readBaseline()).filter((name) => !made.has(name))).toEqual([]);
});
