// Which runs of the suite are made: every requirement set at the gateway with an upstream of its own era, the same over stdio, and each
// set across to an upstream of the other era.
import type { FixtureName } from './fixture-server.ts';
import { requiredScenarios, type RequirementSet } from './suite.ts';

export interface ServerRun {
  /** Also its name in the baseline. */
  readonly name: string;
  readonly set: RequirementSet;
  readonly upstream: FixtureName;
  /** Scenarios that must have been run. */
  readonly required: readonly string[];
  /** Others have no tools, prompts or resources behind this gateway to be about, and are left out. */
  readonly only: ReadonlySet<string> | undefined;
}

export interface ClientRun {
  readonly name: string;
  readonly set: RequirementSet;
  readonly required: readonly string[];
}

const sets: readonly RequirementSet[] = ['2025-11-25', '2026-07-28'];

function own(set: RequirementSet, upstream: FixtureName): ServerRun {
  return { name: `server ${set}, ${upstream}`, set, upstream, required: requiredScenarios(set, 'server'), only: undefined };
}

/** What both sets require is what upstreams of both eras have. */
function across(set: RequirementSet, upstream: FixtureName): ServerRun {
  const required = requiredScenarios('2025-11-25', 'server').filter((name) =>
    requiredScenarios('2026-07-28', 'server').includes(name),
  );
  return { name: `server ${set}, across to ${upstream}`, set, upstream, required, only: new Set(required) };
}

export const serverRuns: readonly ServerRun[] = [
  own('2025-11-25', 'session-server'),
  own('2026-07-28', 'stateless-server'),
  own('2025-11-25', 'session-stdio'),
  across('2025-11-25', 'stateless-server'),
  across('2026-07-28', 'session-server'),
  across('2026-07-28', 'session-stdio'),
];

export const clientRuns: readonly ClientRun[] = sets.map((set) => ({
  name: `client ${set}`,
  set,
  required: requiredScenarios(set, 'client'),
}));
