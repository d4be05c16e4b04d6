// The face of the agents slice: who is this? Answers from memory; every change is one commit of row and record.
import type { Agent } from './model.ts';
import type { Unsubscribe } from '../../kernel/ports.ts';

export interface Agents {
  /** The agent whose current token this is, in any state; unknown tokens are `undefined`. Synchronous, no scan. */
  authenticate(token: string): Agent | undefined;
  get(name: string): Agent | undefined;
  list(): readonly Agent[];
  /** Throws `agents.suspended` or `agents.revoked` (kind denied) unless the agent is active. */
  assertActive(name: string): void;
  /** Calls back when an agent was revoked, removed, suspended or its token rotated: its sessions end. */
  onEnded(listener: (name: string) => void): Unsubscribe;
}
