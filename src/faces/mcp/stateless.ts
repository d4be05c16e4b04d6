// The MCP server an agent sees that has no session (2026-07-28): requests that stand for themselves, and subscriptions. Keeps only what
// is under way, by agent, so that all of it ends with the agent. Knows no HTTP and decides nothing.
import type { ChangingList, ClientFacts, Dispatch, ToolScope } from '../../kernel/dispatch.ts';
import type { Clock, Entropy, Log } from '../../kernel/ports.ts';
import type { StatelessEra, StatelessRequest } from '../../wire/era.ts';
import { encodeError, encodeResult, rpcCode, type Message, type RequestId } from '../../wire/jsonrpc.ts';
import type { MirroredParam } from '../../wire/mirrored-params.ts';
import type { Refusal } from '../../wire/stateless-head.ts';
import { isVendorMethod } from '../../wire/vendor-methods.ts';
import type { Calls } from './calls.ts';
import type { CallInFlight, NoticeStream, ReplySlot } from './in-flight.ts';
import { createMirroredTools } from './mirrored-tools.ts';
import { answerList, faultOf } from './list-answer.ts';
import { createParkedCalls, unknownState, type CarriedRequest, type ParkedCalls } from './parked-calls.ts';
import { callerOf } from './stateless-caller.ts';
import { createSubscriptions } from './subscriptions.ts';

type Request = Extract<Message, { kind: 'request' }>;
type Answerable = Exclude<StatelessRequest, { kind: 'listen' }>;

export interface StatelessServer {
  /** Revisions served request by request. */
  readonly versions: readonly string[];
  /** Those served at all, newest first. */
  readonly supported: readonly string[];
  /**
   * What is asked, or why it is refused: 404 for a method that is in no registry, as HTTP has to say of it. What no revision knows is the
   * upstream's to answer at its own endpoint.
   */
  read(request: Request, scope: ToolScope): StatelessRequest | (Refusal & { readonly kind: 'refused' });
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
  /** Ends every subscription and every call that waits for its client; others go on, further ones are refused with `message`. */
  stop(message: string): void;
  endAll(message: string): void;
  /** Open subscriptions. */
  subscriptions(): number;
  /** Whether anybody may have a stream that has to be kept alive. */
  streaming(): boolean;
  /** Calls that wait for their client to come back. */
  parked(): number;
}

/** Per agent. */
const maxSessionsKept = 64;

interface UnderWay {
  /** Callers whose calls may have left something with upstreams. */
  readonly sessions: Set<string>;
  readonly era: StatelessEra;
  /** By the slot each began with. */
  readonly calls: Map<ReplySlot, CallInFlight>;
  /** Made when somebody first comes who can be asked or told something. */
  parked: ParkedCalls | undefined;
}

export interface StatelessDeps {
  readonly era: StatelessEra;
  readonly dispatch: Dispatch;
  readonly calls: Calls;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  /** Per agent. */
  readonly maxSubscriptions: number;
  /** Somebody listens, and has to be kept alive. */
  readonly awake: () => void;
}

export function createStateless(deps: StatelessDeps): StatelessServer {
  const { era, dispatch, calls, clock, entropy, log, maxSubscriptions, awake } = deps;
  const agents = new Map<string, UnderWay>();
  const subscriptions = createSubscriptions({ era, dispatch, clock, limit: maxSubscriptions, awake });
  const mirroredTools = createMirroredTools();
  let stopped: string | undefined;

  function underWay(agent: string): UnderWay {
    let own = agents.get(agent);
    if (own === undefined) {
      own = { sessions: new Set(), era, calls: new Map(), parked: undefined };
      agents.set(agent, own);
    }
    return own;
  }

  function parkedOf(own: UnderWay): ParkedCalls {
    own.parked ??= createParkedCalls({ era, clock, entropy, calls, home: own });
    return own.parked;
  }

  function call(agent: string, scope: ToolScope, id: RequestId, asked: CarriedRequest, slot: ReplySlot): void {
    const own = underWay(agent);
    const { client = nobody, resumption } = asked;
    const caller = callerOf(agent, scope, client.capabilities);
    const home = { era, calls: own.calls, caller, scope };
    if (asked.progressToken !== undefined || client.logLevel !== undefined) awake();
    if (resumption === undefined) {
      // An agent may make up endpoints without end; what is not remembered here goes when upstreams find it idle.
      if (own.sessions.size < maxSessionsKept) own.sessions.add(caller.session);
      if (!canHear(client)) return calls.start(home, slot, id, asked, slot);
    }
    // From here on whoever comes can be asked or told something.
    const claim = { session: caller.session, request: asked };
    const exchange = { id, slot, logLevel: client.logLevel };
    if (resumption === undefined) {
      const asking = parkedOf(own).open(claim, exchange, client);
      return calls.start({ ...home, host: asking.host }, asking.slot, id, asked, asking.slot);
    }
    const fault = own.parked === undefined ? unknownState : own.parked.resume(claim, resumption, exchange);
    if (fault !== undefined) slot.answer(encodeError(id, rpcCode.invalidParams, fault));
  }

  function endAgent(agent: string, message: string): void {
    subscriptions.endAgent(agent);
    const own = agents.get(agent);
    if (own === undefined) return;
    agents.delete(agent);
    calls.failAll(own, message);
    own.parked?.end(message);
    for (const session of own.sessions) dispatch.sessionEnded(session);
  }

  return {
    versions: era.versions,
    supported: era.supported,
    read({ method, params }, scope) {
      const reader = era.requests.get(method);
      if (reader === undefined && !(scope.kind === 'upstream' && isVendorMethod(method))) {
        const message = `There is no method '${method.slice(0, 128)}' here in revision ${era.versions.join(', ')}.`;
        return { kind: 'refused', status: 404, code: rpcCode.methodNotFound, message };
      }
      try {
        return reader === undefined ? era.vendorRequest(method, params ?? {}) : reader(params ?? {});
      } catch (thrown) {
        return { kind: 'refused', status: 200, ...faultOf(thrown, log) };
      }
    },
    mirrored: (agent, scope, tool) => mirroredTools.of(dispatch.tools(callerOf(agent, scope), scope), tool),
    answer(agent, scope, id, asked, slot) {
      switch (asked.kind) {
        case 'call_tool':
        case 'relay':
          if (stopped === undefined) call(agent, scope, id, asked, slot);
          else slot.answer(encodeError(id, era.codes.refused, stopped));
          return;
        case 'list':
          slot.answer(answerList({ era, caller: callerOf(agent, scope), scope }, id, asked, { dispatch, log }));
          return;
        case 'discover':
          slot.answer(encodeResult(id, era.results.discovered(dispatch.offering(callerOf(agent, scope), scope))));
      }
    },
    dropped(agent, slot) {
      const own = agents.get(agent);
      if (own !== undefined) calls.cancel(own, own.parked?.carriedBy(slot) ?? slot);
    },
    listen(agent, scope, id, { filter }, stream) {
      if (stopped !== undefined) return encodeError(id, era.codes.refused, stopped);
      return subscriptions.open(agent, scope, id, filter, stream);
    },
    unlisten: (agent, stream) => subscriptions.close(agent, stream),
    listChanged: (list) => subscriptions.listChanged(list),
    keepAlive() {
      subscriptions.keepAlive();
      for (const own of agents.values()) for (const { slot } of own.calls.values()) slot.keepAlive();
    },
    endAgent,
    stop(message) {
      stopped = message;
      subscriptions.endAll();
      // Nobody could come back to them.
      for (const { parked } of agents.values()) parked?.end(message);
    },
    endAll(message) {
      for (const agent of agents.keys()) endAgent(agent, message);
    },
    subscriptions: () => subscriptions.count(),
    streaming() {
      if (subscriptions.count() > 0) return true;
      for (const own of agents.values()) if (own.calls.size > 0) return true;
      return false;
    },
    parked() {
      let waiting = 0;
      for (const { parked } of agents.values()) waiting += parked?.size() ?? 0;
      return waiting;
    },
  };
}

const nobody: ClientFacts = { capabilities: {}, info: undefined, logLevel: undefined };

/** Is there anything an upstream could ask such a client, or tell it in the middle of a request? */
function canHear({ capabilities, logLevel }: ClientFacts): boolean {
  const { elicitation, sampling, roots } = capabilities;
  return logLevel !== undefined || elicitation !== undefined || sampling !== undefined || roots !== undefined;
}
