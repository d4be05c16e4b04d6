// What the suite runs as "the client", with the scenario in the environment and the URL of its server as the last argument.
import { arrive, takeTurn, type Turns } from './turns.ts';

const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
const turns = JSON.parse(process.env['CONFORMANCE_TURNS'] ?? '') as Turns;

/** Ways to log in that are not a person's, each a line in baseline.json. */
const unplayed = /^auth\/(?:client-credentials-.*|dpop.*|enterprise-managed-authorization|wif-.*)$/;

arrive(turns);
// Nothing is loaded for what cannot be.
if (unplayed.test(scenario)) {
  console.error('The gateway logs in for a person, with a bearer token.');
  process.exitCode = 1;
} else {
  await takeTurn(turns);
  const { play } = await import('./client-scenarios.ts');
  await play(scenario, process.argv.at(-1) ?? '');
}
