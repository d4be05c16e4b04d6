// The results of a run as a table for people. Judges nothing.
import { failing, passed } from './baseline.ts';
import type { Scenario } from './suite.ts';

export function drawTable(title: string, scenarios: readonly Scenario[], required: readonly string[]): string {
  const width = Math.max(...scenarios.map(({ name }) => name.length));
  const lines = scenarios.map((scenario) => {
    const [good, bad] = [passed(scenario), failing(scenario).length];
    const mark = required.includes(scenario.name) ? '' : ' (not scored)';
    return `  ${bad === 0 ? 'ok  ' : 'FAIL'} ${scenario.name.padEnd(width)} ${count(good)} passed ${count(bad)} failed${mark}`;
  });
  const sum = (of: (scenario: Scenario) => number): number => scenarios.reduce((total, scenario) => total + of(scenario), 0);
  const total = `  ${scenarios.length} scenarios, ${sum(passed)} checks passed, ${sum((one) => failing(one).length)} failed`;
  return [title, ...lines, total].join('\n');
}

const count = (number: number): string => String(number).padStart(3);
