// The suite as an upstream of the connector the daemon uses.
import { expect, test } from 'vitest';
import { compare, readBaseline } from './baseline.ts';
import { clientRuns } from './runs.ts';
import { testClient } from './suite.ts';
import { columnOf } from './table.ts';

test.for(clientRuns.map((run) => [run.name, run] as const))(
  '[CONF-4] only what the baseline names fails: %s',
  { timeout: 150_000 },
  async ([name, { set, required }], { task }) => {
    const scenarios = await testClient(set, 'test/conformance/client-driver.ts');
    task.meta.conformance = columnOf('client', name, scenarios);
    expect(compare({ run: name, scenarios, required }, readBaseline())).toEqual([]);
  },
);
