// The MCP server an agent sees that has no session (2026-07-28): requests that stand for themselves, and subscriptions. Keeps only what
// is under way, by agent, so that all of it ends with the agent. Knows no HTTP and decides nothing.
import type { AgentCaller } from '../../kernel/caller.ts';
import type { ChangingList, Dispatch, ToolScope } from '../../kernel/dispatch.ts';
import type { Log } from '../../kernel/ports.ts';
import type { StatelessEra, StatelessRequest } from '../../wire/era.ts';
import { encodeError, encodeResult, rpcCode, type Message, type RequestId } from '../../wire/jsonrpc.ts';
import type { MirroredParam } from '../../wire/mirrored-params.ts';
import type { Refusal } from '../../wire/stateless-head.ts';
import type { Calls } from './calls.ts';
import type { CallInFlight, NoticeStream, ReplySlot } from './in-flight.ts';
import { createMirroredTools } from './mirrored-tools.ts';
import { answerList, faultOf } from './list-answer.ts';

type Request = Extract<Message, { kind: 'request' }>;
type Answerable = Exclude<StatelessRequest, { kind: 'listen' }>;

export interface StatelessServer {
  /** Revisions served request by request. */
  readonly versions: readonly string[];
  /** Those served at all, newest first. */
  readonly supported: readonly string[];
  /** What is asked, or why it is refused: 404 for a method that is in no registry, as HTTP has to say of it. */
  read(request: Request): StatelessRequest | (Refusal & { readonly kind: 'refused' });
  /** The arguments of a tool that its client has to repeat in headers. */
  mirrored(agent: string, scope: ToolScope, tool: string): readonly MirroredParam[];
  answer(agent: string, scope: ToolScope, id: RequestId, asked: Answerable, slot: ReplySlot): void;
  /** The client is gone, and with it whoever would read the answer. */
  dropped(agent: string, slot: ReplySlot): void;
  /** The error that answers it where no further subscription is given, else nothing: `stream` has been acknowledged. */
  listen(
    agent: string,
    scope: ToolScope,
    id: RequestId,
    asked: Extract<StatelessRequest, { kind: 'listen' }>,
    stream: NoticeStream,
  ): string | undefined;
  unlisten(agent: string, stream: NoticeStream): void;
  listChanged(list: ChangingList): void;
  keepAlive(): void;
  /** Ends what the agent has under way: calls with `message`, subscriptions with their result. */
  endAgent(agent: string, message: string): void;
  /** Ends every subscription; calls go on, further ones are refused with `message`. */
  stop(message: string): void;
  endAll(message: string): void;
  /** Open subscriptions. */
  subscriptions(): number;
}

/** Per agent. */
const maxSessionsKept = 64;

interface Subscription {
  readonly id: RequestId;
  readonly lists: readonly ChangingList[];
}

interface UnderWay {
  /** Callers whose calls may have left something with upstreams. */
  readonly sessions: Set<string>;
  readonly era: StatelessEra;
  readonly calls: Map<ReplySlot, CallInFlight>;
  readonly streams: Map<NoticeStream, Subscription>;
}

export interface StatelessDeps {
  readonly era: StatelessEra;
  readonly dispatch: Dispatch;
  readonly calls: Calls;
  readonly log: Log;
  /** Per agent. */
  readonly maxSubscriptions: number;
  /** Somebody listens, and has to be kept alive. */
  readonly awake: () => void;
}

export function createStateless({ era, dispatch, calls, log, maxSubscriptions, awake }: StatelessDeps): StatelessServer {
  const agents = new Map<string, UnderWay>();
  const mirroredTools = createMirroredTools();
  let stopped: string | undefined;

  function underWay(agent: string): UnderWay {
    let own = agents.get(agent);
    if (own === undefined) {
      own = { sessions: new Set(), era, calls: new Map(), streams: new Map() };
      agents.set(agent, own);
    }
    return own;
  }

  /** The client hears that the end is meant; a stream that merely breaks off would say that something went wrong. */
  function endStream(streams: UnderWay['streams'], stream: NoticeStream, id: RequestId): void {
    streams.delete(stream);
    stream.send(encodeResult(id, era.results.listened(id)));
    stream.end();
  }

  function endStreams({ streams }: UnderWay): void {
    for (const [stream, { id }] of streams) endStream(streams, stream, id);
  }

  function endAgent(agent: string, message: string): void {
    const own = agents.get(agent);
    if (own === undefined) return;
    agents.delete(agent);
    endStreams(own);
    calls.failAll(own, message);
    for (const session of own.sessions) dispatch.sessionEnded(session);
  }

  return {
    versions: era.versions,
    supported: era.supported,
    read({ method, params }) {
      const reader = era.requests.get(method);
      if (reader === undefined) {
        const message = `There is no method '${method.slice(0, 128)}' here in revision ${era.versions.join(', ')}.`;
        return { kind: 'refused', status: 404, code: rpcCode.methodNotFound, message };
      }
      try {
        return reader(params ?? {});
      } catch (thrown) {
        return { kind: 'refused', status: 200, ...faultOf(thrown, log) };
      }
    },
    mirrored: (agent, scope, tool) => mirroredTools.of(dispatch.tools(callerOf(agent, scope), scope), tool),
    answer(agent, scope, id, asked, slot) {
      switch (asked.kind) {
        case 'call_tool':
        case 'relay': {
          if (stopped !== undefined) {
            slot.answer(encodeError(id, era.codes.refused, stopped));
            return;
          }
          const own = underWay(agent);
          const caller = callerOf(agent, scope);
          // An agent may make up endpoints without end; what is not remembered here goes when upstreams find it idle.
          if (own.sessions.size < maxSessionsKept) own.sessions.add(caller.session);
          calls.start({ era, calls: own.calls, caller, scope }, slot, id, asked, slot);
          return;
        }
        case 'list':
          slot.answer(answerList({ era, caller: callerOf(agent, scope), scope }, id, asked, { dispatch, log }));
          return;
        case 'discover':
          slot.answer(encodeResult(id, era.results.discovered(dispatch.offering(callerOf(agent, scope), scope))));
      }
    },
    dropped(agent, slot) {
      const own = agents.get(agent);
      if (own !== undefined) calls.cancel(own, slot);
    },
    listen(agent, scope, id, { filter }, stream) {
      if (stopped !== undefined) return encodeError(id, era.codes.refused, stopped);
      const { streams } = underWay(agent);
      if (streams.size >= maxSubscriptions) {
        return encodeError(
          id,
          era.codes.refused,
          `This agent has ${maxSubscriptions} subscriptions open already. Close some of them.`,
        );
      }
      const offering = dispatch.offering(callerOf(agent, scope), scope);
      const lists = filter.lists.filter((list) => list === 'tools' || offering[list]);
      streams.set(stream, { id, lists });
      stream.send(era.notifications.acknowledged(id, { lists }));
      // Nothing would ever come: the client learns it at once, and nobody keeps the connection.
      if (lists.length > 0) awake();
      else endStream(streams, stream, id);
      return undefined;
    },
    unlisten: (agent, stream) => void agents.get(agent)?.streams.delete(stream),
    listChanged(list) {
      for (const { streams } of agents.values()) {
        for (const [stream, { id, lists }] of streams) {
          if (lists.includes(list)) stream.send(era.notifications.listChanged(id, list));
        }
      }
    },
    keepAlive() {
      for (const { streams } of agents.values()) for (const stream of streams.keys()) stream.keepAlive();
    },
    endAgent,
    stop(message) {
      stopped = message;
      for (const own of agents.values()) endStreams(own);
    },
    endAll(message) {
      for (const agent of agents.keys()) endAgent(agent, message);
    },
    subscriptions() {
      let open = 0;
      for (const { streams } of agents.values()) open += streams.size;
      return open;
    },
  };
}

/** One caller for all requests of an agent at an endpoint: without sessions there is nothing to tell its clients apart by. */
function callerOf(agent: string, scope: ToolScope): AgentCaller {
  return { kind: 'agent', agent, session: `stateless:${agent}${placeOf(scope)}` };
}

function placeOf(scope: ToolScope): string {
  if (scope.kind === 'all') return '';
  return scope.kind === 'toolset' ? `:${scope.toolset}` : `:upstreams:${scope.upstream}`;
}
