// The suite at the fixtures themselves, with nothing in between: what fails behind the gateway and passes here is the gateway's.
import { expect, test } from 'vitest';
import { compare } from './baseline.ts';
import { startFixture } from './fixture-server.ts';
import { requiredScenarios, testServer } from './suite.ts';
import { drawTable } from './table.ts';

test.for([
  ['2025-11-25', 'session-server'],
  ['2026-07-28', 'stateless-server'],
] as const)(
  '[CONF-1] the fixture of %s passes every check of its requirement set bare',
  { timeout: 150_000 },
  async ([set, name]) => {
    const required = requiredScenarios(set, 'server');
    const scenarios = await testServer(set, await startFixture(name));
    console.log(drawTable(`fixture ${set}, bare`, scenarios, required));
    expect(compare({ side: 'server', set, scenarios, required }, {})).toEqual([]);
  },
);
