// The gateway as a face sees it, without one: tools that do what their name says. Keeps the traps of the real one: a cancelled call
// rejects with `fleet.cancelled`, progress may come in the same turn as the result, and a result is a text nobody may touch.
import type { AgentCaller } from '../../src/kernel/caller.ts';
import type { ClientHost } from '../../src/kernel/client-host.ts';
import type {
  ChangingList,
  Dispatch,
  ListName,
  LogLevel,
  Offering,
  RelayAnswer,
  RelayRequest,
  ResourceFollowing,
  ToolAnswer,
  ToolCall,
} from '../../src/kernel/dispatch.ts';
import { AppError } from '../../src/kernel/errors.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Operation } from '../../src/kernel/operation.ts';

export type FakeTool = (call: ToolCall, caller: AgentCaller) => Promise<ToolAnswer>;

export interface FakeDispatch extends Dispatch {
  readonly calls: { readonly caller: AgentCaller; readonly call: ToolCall }[];
  readonly refusals: { readonly door: string; readonly reason: string; readonly facts: JsonObject }[];
  /** Ids of calls (their `n` argument) whose signal was aborted. */
  readonly cancelled: unknown[];
  /** Sessions that were said to be over. */
  readonly ended: string[];
  readonly followed: { readonly caller: AgentCaller; readonly request: ResourceFollowing }[];
  readonly unfollowed: { readonly caller: AgentCaller; readonly uri: string; readonly host: ClientHost }[];
  /** What becomes of the next wish to follow a resource. */
  follows: (request: ResourceFollowing) => Promise<void>;
  readonly levels: { readonly session: string; readonly level: LogLevel | undefined }[];
  /** Sessions whose roots were said to have changed. */
  readonly rootsOf: string[];
  listed: readonly string[];
  readonly tools_: Map<string, FakeTool>;
  readonly relayed: { readonly caller: AgentCaller; readonly request: RelayRequest }[];
  relays: (request: RelayRequest) => Promise<RelayAnswer>;
  /** Lists besides the tools. */
  offered: Partial<Record<ListName, readonly string[]>>;
  has: Offering;
  change(list?: ChangingList): void;
  listeners(): number;
}

export function toolText(name: string): string {
  return `{"name":"${name}","inputSchema":{"type":"object"},"x-unknown":[1.0,  "kept"]}`;
}

const operation = { name: 'fake.look' } as Operation;

export function createFakeDispatch(): FakeDispatch {
  const listeners = new Set<(list: ChangingList) => void>();
  const tools = new Map<string, FakeTool>([
    [
      'up__echo',
      async ({ args }) => ({
        kind: 'upstream',
        result: `{"content":[{"type":"text","text":${JSON.stringify(JSON.stringify(args ?? {}))}}]}`,
      }),
    ],
    ['up__fails', async () => ({ kind: 'upstream_error', error: '{"code":-32050,"message":"own words","data":{"deep":[1]}}' })],
    ['up__hangs', hangs],
    ['up__progress', progress],
    ['scopegate_can_i', async ({ args }) => ({ kind: 'operation', operation, output: { decision: 'allow', asked: args ?? null } })],
    ['up__asks', asks],
    ['up__breaks', () => Promise.reject(new Error('connect ECONNREFUSED /var/secret.sock'))],
  ]);
  const fake: FakeDispatch = {
    calls: [],
    relayed: [],
    relays: () => Promise.resolve({ kind: 'upstream', result: '{}' }),
    offered: {},
    has: { prompts: false, resources: false, completions: false, logging: false, subscriptions: false },
    refusals: [],
    cancelled: [],
    ended: [],
    followed: [],
    unfollowed: [],
    follows: () => Promise.resolve(),
    levels: [],
    rootsOf: [],
    listed: ['scopegate_can_i', 'up__echo', 'up__hangs', 'up__progress'].map(toolText),
    tools_: tools,
    operations: [],
    tools: () => fake.listed,
    async callTool(caller, call) {
      fake.calls.push({ caller, call });
      const tool = tools.get(call.name);
      if (tool === undefined) throw new AppError('invalid', 'gateway.unknown_tool', `Unknown tool '${call.name}'`);
      call.signal.addEventListener('abort', () => fake.cancelled.push(call.args?.['n']));
      return tool(call, caller);
    },
    operate: () => Promise.reject(new AppError('denied', 'gateway.not_reachable', 'not at this door')),
    prepare: () => Promise.reject(new AppError('denied', 'gateway.not_reachable', 'not at this door')),
    list: (_caller, _scope, list) => fake.offered[list] ?? [],
    offering: () => fake.has,
    follow(caller, request) {
      fake.followed.push({ caller, request });
      return fake.follows(request);
    },
    unfollow: (caller, { uri, host }) => void fake.unfollowed.push({ caller, uri, host }),
    setLogLevel: ({ session }, level) => void fake.levels.push({ session, level }),
    rootsChanged: ({ session }) => void fake.rootsOf.push(session),
    relay(caller, request) {
      fake.relayed.push({ caller, request });
      return fake.relays(request);
    },
    onListChanged(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    sessionEnded: (session) => void fake.ended.push(session),
    refused: (door, reason, facts) => void fake.refusals.push({ door, reason, facts }),
    change(list = 'tools') {
      for (const listener of listeners) listener(list);
    },
    listeners: () => listeners.size,
  };
  return fake;
}

/** Never answers by itself. */
function hangs({ signal }: ToolCall): Promise<ToolAnswer> {
  const { promise, reject } = Promise.withResolvers<ToolAnswer>();
  signal.addEventListener('abort', () => reject(new AppError('unavailable', 'fleet.cancelled', 'The call was cancelled.')));
  return promise;
}

/** Asks its client `method` with `params` and gives the answer as it came, or what the asking failed with. */
async function asks({ args, host, signal }: ToolCall): Promise<ToolAnswer> {
  if (host === undefined) throw new AppError('unavailable', 'host.gone', 'nobody to ask');
  const { method = 'roots/list', params } = args ?? {};
  try {
    const { kind, json } = await host.ask({
      method: typeof method === 'string' ? method : 'ping',
      params: params === undefined ? undefined : JSON.stringify(params),
      signal,
    });
    return { kind: 'upstream', result: `{"content":[],"${kind}":${json}}` };
  } catch (error) {
    return { kind: 'upstream', result: `{"content":[],"failed":${JSON.stringify((error as AppError).code)}}` };
  }
}

/** `n` notices and the result, all in one turn of the event loop: what an upstream does that writes them in one chunk. */
function progress({ args, onProgress }: ToolCall): Promise<ToolAnswer> {
  const { promise, resolve } = Promise.withResolvers<ToolAnswer>();
  setImmediate(() => {
    const total = Number(args?.['n'] ?? 3);
    for (let step = 1; step <= total; step += 1) onProgress?.({ progress: step, total, message: `step ${step}` });
    resolve({ kind: 'upstream', result: '{"content":[{"type":"text","text":"done"}]}' });
  });
  return promise;
}
