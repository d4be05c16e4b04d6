// The suite at the gateway: an upstream behind `/mcp/upstreams/<name>` of the running program.
import { expect, test } from 'vitest';
import { compare, readBaseline } from './baseline.ts';
import { openTarget } from './gateway-target.ts';
import { serverRuns } from './runs.ts';
import { testServer } from './suite.ts';
import { columnOf } from './table.ts';

test.for(serverRuns.map((run) => [run.name, run] as const))(
  '[CONF-2] only what the baseline names fails: %s',
  { timeout: 150_000 },
  async ([name, { set, upstream, required, only }], { task }) => {
    const all = await testServer(set, await openTarget(upstream));
    const scenarios = only === undefined ? all : all.filter((scenario) => only.has(scenario.name));
    task.meta.conformance = columnOf('server', name, scenarios);
    expect(compare({ run: name, scenarios, required }, readBaseline())).toEqual([]);
  },
);
