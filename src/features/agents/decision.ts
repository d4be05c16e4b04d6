// What the operations on one agent have in common: its name, the facts a person decides on, and who decided.
import { z } from 'zod';
import { actorOf } from '../../kernel/caller.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { OperationContext } from '../../kernel/operation.ts';
import type { Agents } from './agents.ts';
import { agentName, agentNameHelp } from './model.ts';
import type { Decision } from './model.ts';
import { notFound } from './refusals.ts';

export const nameInput = z
  .string()
  .regex(agentName, `An agent's name has ${agentNameHelp}.`)
  .describe(`The agent's name: ${agentNameHelp}.`);

export const oneAgent = z.strictObject({ name: nameInput });
export const agentState = z.strictObject({ agent: z.string(), state: z.string() });

/** The agent as it stands, for a person to decide on. Throws `agents.not_found` before anybody is asked for a passphrase. */
export function agentFacts(agents: Agents, name: string): JsonObject {
  const agent = agents.get(name);
  if (agent === undefined) throw notFound(name);
  const { state, createdAt, rotatedAt, reason } = agent;
  return {
    agent: name,
    state,
    created_at: createdAt,
    ...(rotatedAt !== undefined && { rotated_at: rotatedAt }),
    ...(reason !== undefined && { reason }),
  };
}

export function decisionOf({ caller, proofFacts }: OperationContext): Decision {
  return { actor: actorOf(caller), ...(proofFacts && { proof: proofFacts }) };
}
