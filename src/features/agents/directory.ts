// The agents in memory, by name and by token hash, so that every request is answered without a query or a scan.
import { agentName } from './model.ts';
import type { Agent, AgentState } from './model.ts';
import type { AgentRow } from './store.ts';

export interface Directory {
  byName(name: string): Agent | undefined;
  byTokenHash(hash: string): Agent | undefined;
  /** In the order of their names by code point, whatever the database's collation. */
  all(): readonly Agent[];
  /** What stands in the row now; `undefined` takes the agent out. True when whoever it let in must go: another token, or no longer active. */
  put(name: string, row: AgentRow | undefined): boolean;
  /** Its row cannot be known now: nothing passes. */
  lock(name: string): void;
}

const states: readonly string[] = ['active', 'suspended', 'revoked'] satisfies AgentState[];

/** A row that any field of which cannot be right is a locked agent (DESIGN invariant 9): it never authenticates. */
export function agentOf(row: AgentRow): Agent {
  const instants = [row.created_at, ...(row.rotated_at === null ? [] : [row.rotated_at])];
  const readable =
    agentName.test(row.name) &&
    /^[0-9a-f]{64}$/.test(row.token_hash) &&
    states.includes(row.state) &&
    instants.every((instant) => !Number.isNaN(Date.parse(instant)));
  return {
    name: row.name,
    state: readable ? (row.state as AgentState) : 'locked',
    createdAt: row.created_at,
    ...(row.rotated_at === null ? {} : { rotatedAt: row.rotated_at }),
    ...(row.reason === null ? {} : { reason: row.reason }),
  };
}

export function createDirectory(rows: readonly AgentRow[]): Directory {
  const agents = new Map<string, Agent>();
  const names = new Map<string, string>();
  const hashes = new Map<string, string>();

  const forgetToken = (name: string): void => {
    const hash = hashes.get(name);
    if (hash !== undefined) names.delete(hash);
    hashes.delete(name);
  };

  const directory: Directory = {
    byName: (name) => agents.get(name),
    byTokenHash(hash) {
      const name = names.get(hash);
      return name === undefined ? undefined : agents.get(name);
    },
    all: () => [...agents.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    put(name, row) {
      const before = agents.get(name);
      const hashBefore = hashes.get(name);
      forgetToken(name);
      const agent = row && agentOf(row);
      if (row === undefined || agent === undefined) {
        agents.delete(name);
        return before !== undefined;
      }
      agents.set(name, agent);
      if (agent.state !== 'locked') {
        hashes.set(name, row.token_hash);
        names.set(row.token_hash, name);
      }
      return (
        before !== undefined && (hashes.get(name) !== hashBefore || (agent.state !== before.state && agent.state !== 'active'))
      );
    },
    lock(name) {
      forgetToken(name);
      const agent = agents.get(name);
      if (agent !== undefined) agents.set(name, { ...agent, state: 'locked' });
    },
  };
  for (const row of rows) directory.put(row.name, row);
  return directory;
}
