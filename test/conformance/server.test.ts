// The suite at the gateway: an upstream of each era behind `/mcp/upstreams/<name>` of the running program.
import { expect, test } from 'vitest';
import { compare, readBaseline } from './baseline.ts';
import { openTarget } from './gateway-target.ts';
import { requiredScenarios, testServer, type RequirementSet } from './suite.ts';
import { drawTable } from './table.ts';

const sets: readonly RequirementSet[] = ['2025-11-25', '2026-07-28'];

test.for(sets)(
  '[CONF-2] behind the gateway only what the baseline names fails the server set %s',
  { timeout: 150_000 },
  async (set) => {
    const required = requiredScenarios(set, 'server');
    const scenarios = await testServer(set, await openTarget(set));
    console.log(drawTable(`server ${set}, through the gateway`, scenarios, required));
    expect(compare({ side: 'server', set, scenarios, required }, readBaseline())).toEqual([]);
  },
);
