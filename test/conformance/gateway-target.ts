// The running program with a conformance fixture behind it, reachable by a client that cannot authenticate. Ends with the test.
import { onTestFinished } from 'vitest';
import { addAgent, decide, openHouse } from '../support/running-daemon.ts';
import { openBearerProxy } from './bearer-proxy.ts';
import { fixtureProgram, startFixture } from './fixture-server.ts';
import type { RequirementSet } from './suite.ts';

/** How the gateway reaches the fixtures. Over stdio there is only the one of 2025. */
export const reach: 'stdio' | 'http' = 'stdio';

const policies = `version: 1
agents:
  suite:
    capabilities:
      - match: "fixture:*:*"
        effect: allow
`;

/** The URL of the fixture's own endpoint at the gateway. */
export async function openTarget(set: RequirementSet): Promise<string> {
  const house = await openHouse({ policies });
  const daemon = await house.up();
  const token = await addAgent(house, daemon, 'suite');
  await decide(house, daemon, 'fleet.add', { name: 'fixture', ...(await upstreamOf(set)) });
  const proxy = await openBearerProxy(`${daemon.agent_url}/upstreams/fixture`, token);
  onTestFinished(() => proxy.close());
  return proxy.url;
}

async function upstreamOf(set: RequirementSet): Promise<{ run: string[] } | { url: string }> {
  if (reach === 'stdio') return { run: fixtureProgram('session-stdio') };
  return { url: await startFixture(set === '2025-11-25' ? 'session-server' : 'stateless-server') };
}
