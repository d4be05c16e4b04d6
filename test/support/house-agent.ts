// An agent inside the house: calls go straight into the gateway, and what it would read at its door is drawn as the door draws it.
import { drawFailure, drawOutput, type ToolText } from '../../src/faces/mcp/gate-convention.ts';
import type { AgentCaller } from '../../src/kernel/caller.ts';
import type { Dispatch, ToolAnswer, ToolCall, ToolScope } from '../../src/kernel/dispatch.ts';
import { asAppError, type AppError } from '../../src/kernel/errors.ts';
import type { JsonObject } from '../../src/kernel/json.ts';

export interface HouseAgent {
  readonly caller: AgentCaller;
  /** The answer as the gateway gives it; rejects with the AppError. */
  call(name: string, args?: JsonObject, more?: Partial<ToolCall>): Promise<ToolAnswer>;
  /** The text of an upstream's first content block. */
  text(name: string, args?: JsonObject, more?: Partial<ToolCall>): Promise<string>;
  /** The refusal of a call that must not pass. */
  refusal(name: string, args?: JsonObject, more?: Partial<ToolCall>): Promise<AppError>;
  /** What an own tool, or a refusal of any, says at the agent's door. */
  reads(name: string, args?: JsonObject, more?: Partial<ToolCall>): Promise<ToolText>;
  /** An own tool's answer, taken apart again. */
  json(name: string, args?: JsonObject, more?: Partial<ToolCall>): Promise<JsonObject>;
  /** Asks for a capability that a person has to give: the id of the approval that is open then. */
  ask(capability: string, more?: JsonObject): Promise<string>;
  toolNames(scope?: ToolScope): string[];
}

export function houseAgent(dispatch: Dispatch, caller: AgentCaller): HouseAgent {
  const call: HouseAgent['call'] = (name, args, more = {}) =>
    dispatch.callTool(caller, {
      name,
      args,
      scope: { kind: 'all' },
      rest: {},
      signal: new AbortController().signal,
      onProgress: undefined,
      ...more,
    });

  const refusal: HouseAgent['refusal'] = (name, args, more) =>
    call(name, args, more).then(
      (answer) => {
        throw new Error(`it passed: ${JSON.stringify(answer)}`);
      },
      (thrown: unknown) => asAppError(thrown),
    );

  const reads: HouseAgent['reads'] = async (name, args, more) => {
    const answer = await call(name, args, more).catch((thrown: unknown) => asAppError(thrown));
    if (answer instanceof Error) return drawFailure(answer, name);
    if (answer.kind === 'operation') return drawOutput(answer.output);
    throw new Error(`an upstream answered ${name}`);
  };

  const json: HouseAgent['json'] = async (name, args, more) => JSON.parse((await reads(name, args, more)).text) as JsonObject;

  return {
    caller,
    call,
    refusal,
    reads,
    async text(name, args, more) {
      const answer = await call(name, args, more);
      if (answer.kind !== 'upstream') throw new Error(`${name} answered ${JSON.stringify(answer)}`);
      return (JSON.parse(answer.result) as { content: { text: string }[] }).content[0]?.text ?? '';
    },
    json,
    async ask(capability, more = {}) {
      const { approval_id: id } = await json('scopegate_request_capability', { capability, reason: 'to get on', ...more });
      if (typeof id !== 'string') throw new Error(`no person is asked about ${capability}`);
      return id;
    },
    toolNames: (scope = { kind: 'all' }) =>
      dispatch.tools(caller, scope).map((text) => (JSON.parse(text) as { name: string }).name),
  };
}
