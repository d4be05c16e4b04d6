// The suite at the fixtures themselves, with nothing in between: what fails behind the gateway and passes here is the gateway's.
import { expect, test } from 'vitest';
import { compare } from './baseline.ts';
import { startFixture } from './fixture-server.ts';
import { requiredScenarios, testServer } from './suite.ts';
import { columnOf } from './table.ts';

test.for([
  ['2025-11-25', 'session-server'],
  ['2026-07-28', 'stateless-server'],
] as const)('[CONF-1] every check of the set %s passes at the bare %s', { timeout: 150_000 }, async ([set, name], { task }) => {
  const required = requiredScenarios(set, 'server');
  const scenarios = await testServer(set, await startFixture(name));
  task.meta.conformance = columnOf('server', `server ${set}, bare ${name}`, scenarios);
  expect(compare({ run: `server ${set}, bare ${name}`, scenarios, required }, {})).toEqual([]);
});
