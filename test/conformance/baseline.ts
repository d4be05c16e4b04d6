// What is known to fail, each line with its reason, and the comparison that lets the list only shrink.
import { readFileSync } from 'node:fs';
import type { Check, Scenario } from './suite.ts';

/**
 * Run, scenario, check: why it fails. A check is its id, or `id:name` where one id stands for several checks, or `*` for whatever fails
 * in the scenario.
 */
export type Baseline = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>>;

export interface Results {
  readonly run: string;
  readonly scenarios: readonly Scenario[];
  /** Scenarios that must have been run. */
  readonly required: readonly string[];
}

export function readBaseline(): Baseline {
  return JSON.parse(readFileSync(new URL('./baseline.json', import.meta.url), 'utf8')) as Baseline;
}

/** A warning is a SHOULD that was not followed: as good as a failure here. */
export function failing({ checks }: Scenario): Check[] {
  return checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
}

export function passed({ checks }: Scenario): number {
  return checks.filter(({ status }) => status === 'SUCCESS').length;
}

/** One sentence for everything that has to change: in the product when something new fails, in the baseline when something passes. */
export function compare({ run, scenarios, required }: Results, baseline: Baseline): string[] {
  const known = baseline[run] ?? {};
  const problems: string[] = [];
  const say = (scenario: string, what: string): void => void problems.push(`${run}, ${scenario}: ${what}`);

  for (const scenario of scenarios) {
    const excused = new Map(Object.entries(known[scenario.name] ?? {}));
    const used = new Set<string>();
    for (const check of failing(scenario)) {
      const line = ['*', check.id, `${check.id}:${check.name}`].find((key) => excused.has(key));
      if (line === undefined) say(scenario.name, `${check.id}:${check.name} fails: ${check.errorMessage ?? check.status}`);
      else used.add(line);
    }
    for (const [line, reason] of excused) {
      if (!used.has(line)) say(scenario.name, `${line} passes now; remove it from baseline.json`);
      else if (reason.trim().length < 20) say(scenario.name, `${line} needs a reason in baseline.json`);
    }
    // A scenario that looked at nothing proves nothing.
    if (required.includes(scenario.name) && passed(scenario) + failing(scenario).length === 0)
      say(scenario.name, 'nothing was checked');
  }
  const ran = new Set(scenarios.map(({ name }) => name));
  for (const name of required) if (!ran.has(name)) say(name, 'it is required and was not run');
  for (const name of Object.keys(known)) if (!ran.has(name)) say(name, 'it was not run; remove it from baseline.json');
  return problems;
}
