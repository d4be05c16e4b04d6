// What the fleet's operations are given.
import type { Fleet, FleetControl } from './fleet.ts';

export interface FleetOperationDeps {
  readonly fleet: Fleet & FleetControl;
  /** May this agent reach any tool of this upstream, or ask for it? What it may not reach is not mentioned to it. */
  readonly reachable: (agent: string, upstream: string) => boolean;
}
