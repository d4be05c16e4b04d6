// The processes that agents or agent sessions have of their own with a stdio upstream. Each has a state machine to itself, so that one that
// crashes, hangs or does not start is trouble for its own agent and nobody else. Knows no list and no pin.
import { asAppError, type AppError } from '../../kernel/errors.ts';
import type { Clock, Entropy, Log, UpstreamConnection, UpstreamEnd, UpstreamOpening, UpstreamReply } from '../../kernel/ports.ts';
import type { Audit } from '../audit/audit.ts';
import { counts, type Desk, type SupervisedCall } from './admitted.ts';
import { createAgentSessions, type AgentSessions } from './agent-sessions.ts';
import { circuitOf, newMember, next, type Member, type MemberEvent } from './member.ts';
import { named } from './refusals.ts';
import { endings, reasonOf } from './start-reasons.ts';

export interface OwnSessionsDeps {
  readonly name: string;
  readonly specDigest: string;
  readonly open: (key: string, opening: UpstreamOpening & { readonly listens: boolean }) => Promise<UpstreamConnection>;
  readonly startTimeoutMs: number;
  readonly maxSessions: number;
  readonly idleStopMs: number;
  readonly audit: Pick<Audit, 'append' | 'appendQuietly'>;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  readonly ending: AbortSignal;
  readonly mask: (text: string) => string;
  readonly send: (
    own: UpstreamConnection | Promise<UpstreamConnection>,
    call: SupervisedCall,
    deadline: number,
  ) => Promise<UpstreamReply>;
  /** Before a fresh one is used. */
  readonly joined: (key: string, connection: UpstreamConnection) => Promise<void>;
  readonly listensOn: (key: string) => boolean;
  readonly left: (key: string) => void;
  /** Names of secrets it waits for. */
  readonly missing: () => readonly string[];
}

export interface OwnSessions extends Pick<AgentSessions, 'live' | 'count' | 'close'> {
  /** Where requests for this key go; `agent` is whom people are told of, where it is known. */
  desk(key: string, agent: string | undefined): Desk;
  /** Why one that somebody wants is not there. */
  lastFailure(): string | undefined;
  end(key: string): void;
  /** Each that is `stale` ends when its calls are done; the next call gets another. */
  replace(stale: (connection: UpstreamConnection) => boolean): void;
  forgive(): void;
}

const pingTimeoutMs = 5_000;
/** For calls in flight on a process whose secret was replaced. */
const retireMs = 30_000;
/** Machines that have something to remember. */
const remembered = 4_096;

export function createOwnSessions(deps: OwnSessionsDeps): OwnSessions {
  const { name, audit, clock, entropy, log, ending } = deps;
  const members = new Map<string, Member>();
  /** Of those that failed and are not back. */
  const failures = new Map<string, string>();
  /** Whose they are: a key may name a session, which is nothing to show. */
  const agents = new Map<string, string>();
  const sessions = createAgentSessions({
    upstream: name,
    clock,
    capacity: deps.maxSessions,
    idleStopMs: deps.idleStopMs,
    listensOn: deps.listensOn,
    left: exited,
    open: begin,
  });

  const memberOf = (key: string): Member => members.get(key) ?? newMember;
  const jitter = (): number => (entropy.bytes(1)[0] ?? 0) / 256;

  function apply(key: string, event: MemberEvent): void {
    const before = circuitOf(memberOf(key), clock.monotonic()).state;
    const member = next(memberOf(key), event);
    // The longest unchanged one goes first.
    members.delete(key);
    const oldest = members.size >= remembered ? members.keys().next().value : undefined;
    if (oldest !== undefined) forget(oldest);
    members.set(key, member);
    const { state, failures } = circuitOf(member, clock.monotonic());
    if (state === before || state === 'half_open') return;
    audit.appendQuietly({
      event: 'upstream.circuit',
      actor: 'daemon',
      facts: { upstream: name, agent: whose(key), state, failures },
    });
  }

  function forget(key: string): void {
    members.delete(key);
    failures.delete(key);
    agents.delete(key);
  }

  function whose(key: string): string {
    return agents.get(key) ?? 'an agent';
  }

  async function begin(key: string, host: UpstreamOpening['host']): Promise<UpstreamConnection> {
    apply(key, { kind: 'start_begun' });
    try {
      ending.throwIfAborted();
      // No record, no process (DESIGN invariant 6).
      const facts = { upstream: name, agent: whose(key), spec: deps.specDigest, start: memberOf(key).starts };
      audit.append({ event: 'upstream.started', actor: 'daemon', facts });
      const opening = { startTimeoutMs: deps.startTimeoutMs, signal: ending, listens: true };
      const connection = await deps.open(key, host === undefined ? opening : { ...opening, host });
      apply(key, { kind: 'start_succeeded', at: clock.monotonic() });
      failures.delete(key);
      await deps.joined(key, connection);
      return connection;
    } catch (thrown) {
      const error = named(name, asAppError(thrown));
      const why = ending.aborted ? 'ours' : reasonOf(error);
      apply(key, why === 'upstream' ? { kind: 'start_failed', at: clock.monotonic(), jitter: jitter() } : endings[why]);
      if (why !== 'ours') {
        failures.set(key, error.message);
        log.warn('an upstream did not start for an agent', { upstream: name, agent: whose(key), reason: error.message });
      }
      throw error;
    }
  }

  function exited(key: string, { code, signal, stderrTail }: UpstreamEnd): void {
    const how = signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
    failures.set(key, `The process of upstream '${name}' for ${whose(key)} ${how}.`);
    apply(key, { kind: 'exited', at: clock.monotonic(), jitter: jitter() });
    audit.appendQuietly({ event: 'upstream.exited', actor: 'daemon', facts: { upstream: name, agent: whose(key), code, signal } });
    log.warn('an upstream exited by itself', { upstream: name, agent: whose(key), code, signal, stderr: deps.mask(stderrTail) });
    deps.left(key);
  }

  /** Ended, so that the next call meets a fresh one. */
  function recycle(key: string, connection: UpstreamConnection, why: string): void {
    if (sessions.live(key) !== connection) return;
    failures.set(key, why);
    apply(key, { kind: 'recycled', at: clock.monotonic(), jitter: jitter() });
    log.warn('an upstream is stopped to be started anew', { upstream: name, agent: whose(key), reason: why });
    const facts = { upstream: name, agent: whose(key), code: null, signal: null, recycled: true };
    audit.appendQuietly({ event: 'upstream.exited', actor: 'daemon', facts });
    sessions.end(key);
    deps.left(key);
  }

  function failed(key: string, error: AppError, probe: boolean): void {
    const live = sessions.live(key);
    const deaf = error.code === 'process.closed';
    if (counts(error) || (deaf && live !== undefined)) {
      apply(key, { kind: 'call_failed', at: clock.monotonic(), probe });
      if (live === undefined) return;
      if (deaf) recycle(key, live, `Upstream '${name}' was stopped for ${whose(key)}: it no longer reads its input.`);
      else if (circuitOf(memberOf(key), clock.monotonic()).state === 'open') examine(key, live);
    } else if (probe) apply(key, { kind: 'probe_released' });
  }

  /** One that does not even answer a ping is ended. */
  function examine(key: string, connection: UpstreamConnection): void {
    connection.request('ping', undefined, { signal: ending, timeoutMs: pingTimeoutMs }).then(
      () => undefined,
      () => recycle(key, connection, `Upstream '${name}' was stopped for ${whose(key)}: it answers neither calls nor pings.`),
    );
  }

  return {
    live: (key) => sessions.live(key),
    count: () => sessions.count(),
    close: () => sessions.close(),
    lastFailure: () => [...failures.values()].at(-1),
    replace(stale) {
      for (const key of sessions.keys()) {
        const connection = sessions.live(key);
        if (connection === undefined || !stale(connection)) continue;
        sessions.retire(key, retireMs);
        deps.left(key);
      }
    },
    forgive() {
      members.clear();
      failures.clear();
    },
    end(key) {
      sessions.end(key);
      forget(key);
    },
    desk(key, agent) {
      if (agent !== undefined && agents.get(key) !== agent) agents.set(key, agent);
      return {
        upstream: name,
        clock,
        member: () => memberOf(key),
        apply: (event) => apply(key, event),
        lastFailure: () => failures.get(key),
        missing: deps.missing,
        ended: () => ending.aborted,
        send: (call, deadline) => sessions.use(key, call.host, (own) => deps.send(own, call, deadline)),
        failed: (error, probe) => failed(key, error, probe),
      };
    },
  };
}
