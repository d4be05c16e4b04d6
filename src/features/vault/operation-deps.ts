// What the operations of the vault need beside the vault: facts of slices that come later, as questions.
import type { VaultKeeping } from './vault.ts';

export interface VaultOperationDeps {
  readonly vault: VaultKeeping;
  /** Upstreams that signed bindings let use a reference; empty: none. */
  readonly boundTo: (ref: string) => readonly string[];
  /** Is it there only to be found by somebody who should not look? No agent is told of it. */
  readonly decoy: (ref: string) => boolean;
  /** May this agent reach anything of this upstream? */
  readonly reachable: (agent: string, upstream: string) => boolean;
}
