// What the suite runs as "the client", with the scenario in the environment and the URL of its server as the last argument.
import { arrive, takeTurn, type Turns } from './turns.ts';

const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
const turns = JSON.parse(process.env['CONFORMANCE_TURNS'] ?? '') as Turns;

arrive(turns);
// Nothing is loaded for what cannot be: most scenarios are about logins.
if (scenario.startsWith('auth/')) {
  console.error('The gateway does not log in to upstreams yet.');
  process.exitCode = 1;
} else {
  await takeTurn(turns);
  const { play } = await import('./client-scenarios.ts');
  await play(scenario, process.argv.at(-1) ?? '');
}
