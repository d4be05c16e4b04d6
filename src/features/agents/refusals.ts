// Why an agent may not pass or may not be changed, in words and codes.
import { AppError } from '../../kernel/errors.ts';
import { agentOf } from './directory.ts';
import { agentNameHelp } from './model.ts';
import type { Agent, AgentErrorCode } from './model.ts';
import type { AgentRow } from './store.ts';

function refusal(kind: AppError['kind'], code: AgentErrorCode, message: string, hint?: string): AppError {
  return new AppError(kind, code, message, hint === undefined ? {} : { hint });
}

export function notFound(name: string): AppError {
  return refusal('not_found', 'agents.not_found', `There is no agent '${name}'.`, 'See who there is with: sallyport agent ls.');
}

export function exists(name: string): AppError {
  const hint = `Give it a new token with: sallyport agent rotate ${name}.`;
  return refusal('conflict', 'agents.exists', `There is an agent '${name}' already.`, hint);
}

export function badName(name: string): AppError {
  return refusal('invalid', 'agents.bad_name', `'${name}' cannot name an agent.`, `Use ${agentNameHelp}.`);
}

export function notSuspended(name: string): AppError {
  return refusal('conflict', 'agents.not_suspended', `The agent '${name}' is not suspended.`);
}

/** Told to the agent itself: what happened and whom to ask, not why. */
export function notActive(name: string, state: Agent['state'] | undefined): AppError {
  if (state === 'suspended') {
    const message = `The agent '${name}' is suspended; nothing passes until a person lifts it.`;
    return refusal('denied', 'agents.suspended', message, `Ask the human to run: sallyport agent unsuspend ${name}.`);
  }
  if (state === 'locked') {
    const message = `What is stored about the agent '${name}' is unreadable; nothing passes.`;
    return refusal('denied', 'agents.locked', message, `Ask the human to remove and add it: sallyport agent rm ${name}.`);
  }
  const hint = 'Ask the human to add the agent again and to give it its new token.';
  return refusal('denied', 'agents.revoked', `The agent '${name}' has no access any more.`, hint);
}

/** The agent, when it is there and may still change: neither revoked nor locked. */
export function changeable(name: string, row: AgentRow | undefined): Agent {
  if (row === undefined) throw notFound(name);
  const agent = agentOf(row);
  if (agent.state === 'locked') {
    const message = `What is stored about the agent '${name}' is unreadable, so it cannot be changed.`;
    throw refusal('conflict', 'agents.locked', message, `Remove it with: sallyport agent rm ${name}.`);
  }
  if (agent.state !== 'revoked') return agent;
  const hint = `Remove it with: sallyport agent rm ${name}. Then its name can be added again.`;
  throw refusal('conflict', 'agents.revoked', `The agent '${name}' was revoked, which is final.`, hint);
}
