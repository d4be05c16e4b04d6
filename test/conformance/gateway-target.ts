// The running program with a conformance fixture behind it, reachable by a client that cannot authenticate. Ends with the test.
import { onTestFinished } from 'vitest';
import { addAgent, decide, openHouse } from '../support/running-daemon.ts';
import { openBearerProxy } from './bearer-proxy.ts';
import { fixtureProgram, startFixture, type FixtureName } from './fixture-server.ts';

const policies = `version: 1
limits: { rate_limit: 1000/s }
agents:
  suite:
    capabilities:
      - match: "fixture:*:*"
        effect: allow
`;

/** The URL of the fixture's own endpoint at the gateway. */
export async function openTarget(upstream: FixtureName): Promise<string> {
  const house = await openHouse({ policies });
  const daemon = await house.up();
  const token = await addAgent(house, daemon, 'suite');
  const where =
    upstream === 'session-stdio' ? { run: fixtureProgram(upstream), sharing: 'session' } : { url: await startFixture(upstream) };
  // Whatever roots the suite has: without places of its own an upstream is not told that there are any.
  await decide(house, daemon, 'fleet.add', { name: 'fixture', roots: ['/'], ...where });
  const proxy = await openBearerProxy(`${daemon.agent_url}/upstreams/fixture`, token);
  onTestFinished(() => proxy.close());
  return proxy.url;
}
