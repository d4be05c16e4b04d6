// MCP sessions of the agent door: issued at initialize, bound to one agent and one endpoint, bounded in number, ended when idle.
// In memory only: after a restart a client is told its session is unknown and initializes again. Knows no message and no transport.
import type { AgentCaller } from '../../kernel/caller.ts';
import type { ClientHost } from '../../kernel/client-host.ts';
import type { ChangingList, Offering, ToolScope } from '../../kernel/dispatch.ts';
import type { Clock, Entropy } from '../../kernel/ports.ts';
import { offersTools } from '../../wire/capabilities.ts';
import type { ClientClaims, HandshakeEra } from '../../wire/era.ts';
import type { RequestId } from '../../wire/jsonrpc.ts';
import type { AskHome } from './client-requests.ts';
import type { CallHome } from './in-flight.ts';
import { nothingMissed } from './session-messages.ts';

export interface Session extends CallHome<RequestId>, AskHome {
  readonly id: string;
  readonly era: HandshakeEra;
  /** The protocol version that was agreed on. */
  readonly version: string;
  /** What stands for its client with upstreams, as long as it lasts. */
  readonly host: ClientHost;
  /** What its client was told that there is; of other lists it is told nothing. */
  readonly offering: Offering;
  /** Monotonic milliseconds. */
  usedAt: number;
}

export interface SessionLimits {
  readonly perAgent: number;
  readonly total: number;
  readonly idleMs: number;
}

/** How a session begins. */
export interface Handshake {
  readonly era: HandshakeEra;
  readonly version: string;
  readonly client: ClientClaims;
}

export interface Sessions {
  /** Makes room by ending the session that was idle the longest; `undefined` when all are busy. */
  open(agent: string, scope: ToolScope, handshake: Handshake): Session | undefined;
  /** Only the agent that opened it finds a session, and only at the endpoint where it was opened. */
  find(id: string, agent: string, scope: ToolScope): Session | undefined;
  end(session: Session): void;
  endAgent(agent: string): void;
  endIdle(): void;
  all(): Iterable<Session>;
  size(): number;
}

/** `offering`: what an endpoint has for a caller. `onEnd` runs after a session is out of the books, whatever ended it. */
export function createSessions(deps: {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly limits: SessionLimits;
  readonly offering: (caller: AgentCaller, scope: ToolScope) => Offering;
  readonly hostOf: (session: AskHome, claims: ClientClaims) => ClientHost;
  readonly onEnd: (session: Session) => void;
}): Sessions {
  const { clock, entropy, limits, offering, hostOf, onEnd } = deps;
  const byId = new Map<string, Session>();
  const byAgent = new Map<string, Set<Session>>();

  function end(session: Session): void {
    if (!byId.delete(session.id)) return;
    const siblings = byAgent.get(session.caller.agent);
    siblings?.delete(session);
    if (siblings?.size === 0) byAgent.delete(session.caller.agent);
    onEnd(session);
  }

  return {
    open(agent, scope, { era, version, client }) {
      const siblings = byAgent.get(agent);
      if (siblings !== undefined && siblings.size >= limits.perAgent && !endLongestIdle(siblings)) return undefined;
      if (byId.size >= limits.total && !endLongestIdle(byId.values())) return undefined;
      const id = entropy.uuid();
      const caller: AgentCaller = { kind: 'agent', agent, session: id };
      const home: AskHome & Pick<Session, 'calls'> = {
        calls: new Map(),
        asks: new Map(),
        stream: undefined,
        missed: nothingMissed,
        over: false,
      };
      const session: Session = Object.assign(home, {
        id,
        caller,
        offering: offering(caller, scope),
        host: hostOf(home, client),
        scope,
        era,
        version,
        usedAt: clock.monotonic(),
      });
      byId.set(id, session);
      const own = byAgent.get(agent);
      if (own === undefined) byAgent.set(agent, new Set([session]));
      else own.add(session);
      return session;
    },
    find(id, agent, scope) {
      const session = byId.get(id);
      if (session === undefined || session.caller.agent !== agent || !sameScope(session.scope, scope)) return undefined;
      session.usedAt = clock.monotonic();
      return session;
    },
    end,
    endAgent(agent) {
      for (const session of byAgent.get(agent) ?? []) end(session);
    },
    endIdle() {
      const before = clock.monotonic() - limits.idleMs;
      for (const session of byId.values()) {
        if (session.usedAt <= before && session.calls.size === 0 && session.stream === undefined) end(session);
      }
    },
    all: () => byId.values(),
    size: () => byId.size,
  };

  /** One with an open stream is only taken when all have one: its client is probably there. One with a call in flight never is. */
  function endLongestIdle(candidates: Iterable<Session>): boolean {
    let oldest: Session | undefined;
    for (const session of candidates) {
      if (session.calls.size === 0 && (oldest === undefined || idleBefore(session, oldest))) oldest = session;
    }
    if (oldest === undefined) return false;
    end(oldest);
    return true;
  }
}

function idleBefore(one: Session, other: Session): boolean {
  const listens = one.stream !== undefined;
  if (listens !== (other.stream !== undefined)) return !listens;
  return one.usedAt < other.usedAt;
}

function sameScope(one: ToolScope, other: ToolScope): boolean {
  if (one === other) return true;
  if (one.kind === 'upstream') return other.kind === 'upstream' && one.upstream === other.upstream;
  if (one.kind === 'toolset') return other.kind === 'toolset' && one.toolset === other.toolset;
  return one.kind === other.kind;
}

/** Whether its client was told that this list may change. */
export function follows({ offering }: Pick<Session, 'offering'>, list: ChangingList): boolean {
  return list === 'tools' ? offersTools(offering) : offering[list];
}
