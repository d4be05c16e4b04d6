// A test door with an upstream behind it that asks its client back, and an agent of 2026-07-28 in front that can be asked.
import type { ToolCall } from '../../src/kernel/dispatch.ts';
import { asAppError } from '../../src/kernel/errors.ts';
import type { UpstreamReply } from '../../src/kernel/ports.ts';
import type { McpEndpointDeps } from '../../src/faces/mcp/endpoint.ts';
import { openTestDoor, type TestDoor } from './agent-door.ts';
import { envelope, statelessAsk, type Params, type StatelessAnswer } from './stateless-agent.ts';

export const able = { elicitation: { form: {} }, sampling: {}, roots: {} };
export const form = '{"message":"Sure?","requestedSchema":{"type":"object","properties":{"ok":{"type":"boolean"}}}, "x-own":1.00}';
export const accept = { action: 'accept', content: { ok: true } };
export const refused = { error: { code: -32602 } };

export function meta(more: Params = {}): Params {
  return envelope({ 'io.modelcontextprotocol/clientCapabilities': able, ...more });
}

type Options = NonNullable<Parameters<typeof statelessAsk>[3]>;

export interface ParkingDoor {
  readonly door: TestDoor;
  /** What the upstream got for its questions, in the order they were settled. */
  readonly got: unknown[];
  /** Calls of `up__sure` that were begun. */
  runs: number;
  /** Asks, and notes what comes of it. */
  put(asked: Pick<ToolCall, 'host' | 'signal'>, method: string, params?: string): Promise<UpstreamReply>;
  /** `up__sure` asks once; it has the reply in its result. */
  call(params?: Params, options?: Options): Promise<StatelessAnswer>;
  /** The same call with a state, and responses to what was asked. */
  again(state: string, responses?: unknown, more?: Params, options?: Options): Promise<StatelessAnswer>;
}

export function heard({ json }: UpstreamReply): { kind: 'upstream'; result: string } {
  return { kind: 'upstream', result: `{"content":[],"x-heard":${json}}` };
}

/** The state of an answer that asks; throws for any other. */
export function stateOf({ reply, body }: StatelessAnswer): string {
  const { resultType, requestState } = reply.result ?? {};
  if (resultType !== 'input_required' || typeof requestState !== 'string') throw new Error(`no question: ${body}`);
  return requestState;
}

export async function openParkingDoor(options: Partial<McpEndpointDeps> = {}): Promise<ParkingDoor> {
  const door = await openTestDoor({}, options);
  const upstream: ParkingDoor = {
    door,
    got: [],
    runs: 0,
    async put({ host, signal }, method, params) {
      try {
        const reply = await host!.ask({ method, params, signal });
        upstream.got.push(JSON.parse(reply.json));
        return reply;
      } catch (thrown) {
        const { code, message } = asAppError(thrown);
        upstream.got.push({ gone: code, message });
        throw thrown;
      }
    },
    call: (params = {}, more = {}) =>
      statelessAsk(door, 'tools/call', { name: 'up__sure', arguments: { n: 1 }, _meta: meta(), ...params }, more),
    again: (state, responses = { 'ask-1': accept }, more = {}, other = {}) =>
      upstream.call({ requestState: state, inputResponses: responses, ...more }, { id: 2, ...other }),
  };
  door.dispatch.tools_.set('up__sure', async (call) => {
    upstream.runs += 1;
    return heard(await upstream.put(call, 'elicitation/create', form));
  });
  return upstream;
}
