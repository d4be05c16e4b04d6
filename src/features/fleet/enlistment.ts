// Makes a member of an accepted entry: how it is reached and its listing joined to the supervision. Decides nothing.
import type { JsonObject } from '../../kernel/json.ts';
import type {
  ChildSpec,
  Clock,
  Digest,
  Entropy,
  HttpConnector,
  Log,
  UpstreamConnection,
  UpstreamConnector,
} from '../../kernel/ports.ts';
import type { Audit } from '../audit/audit.ts';
import type { UpstreamAuth } from '../auth/auth.ts';
import { childEnvironment, maskEnvironment, missingPassthrough } from './environment.ts';
import { listAll } from './listing.ts';
import { createLogin, type Lent, type LoginDeps } from './login.ts';
import { createOffers, type OfferKind } from './offers.ts';
import type { PinnedTools } from './pinned-tools.ts';
import { unaccepted } from './refusals.ts';
import type { Acceptable, Enlisted, FindProgram } from './roster.ts';
import type { ResourceUpdate, StdioTransport, TaskNotice, UpstreamSpec } from './model.ts';
import { createSupervised, type SupervisedDeps } from './supervised.ts';

export interface EnlistmentDeps {
  readonly audit: Audit;
  readonly connector: UpstreamConnector;
  readonly http: HttpConnector;
  readonly auth: UpstreamAuth;
  readonly findProgram: FindProgram;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly digest: Digest;
  readonly log: Log;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What an upstream offers besides tools changed. */
  readonly offersChanged: (kind: OfferKind) => void;
  /** A resource that a session follows changed. */
  readonly updated: (update: ResourceUpdate) => void;
  readonly taskNoticed: (notice: TaskNotice) => void;
  /** The one process that serves everybody ended, and with it what it kept for them. */
  readonly stopped: (upstream: string) => void;
}

/** A start must not fail, nor its tools wait long, for the sake of other lists. */
const offersTimeoutMs = 10_000;

export function createEnlistment(deps: EnlistmentDeps): (accepted: Acceptable, tools: PinnedTools) => Enlisted {
  const { environment, clock } = deps;
  return (accepted, tools) => {
    const { spec, specDigest } = accepted;
    const { signal } = new AbortController();
    let serving: UpstreamConnection | undefined;
    const watch = (connection: UpstreamConnection): void => {
      if (serving === connection) return;
      // What the one before kept goes with it, though its last calls may not be over.
      if (serving !== undefined) deps.stopped(spec.name);
      serving = connection;
      void connection.closed.then(() => {
        if (serving !== connection) return;
        serving = undefined;
        deps.stopped(spec.name);
      });
    };
    const offers = createOffers({ ...deps, upstream: spec.name, changed: deps.offersChanged });
    const member = createSupervised({
      ...deps,
      name: spec.name,
      specDigest,
      ...dialing(accepted, deps),
      startTimeoutMs: spec.startTimeoutMs,
      sharing: spec.sharing,
      maxSessions: spec.maxSessions,
      idleStopMs: spec.idleStopMs,
      ...(asksClients(spec) ? { declares: askable(spec) } : {}),
      async list(connection, timeoutMs) {
        if (spec.sharing === 'shared' && connection.pid !== undefined) watch(connection);
        const others = offers.follow(connection, Math.min(timeoutMs / 2, offersTimeoutMs));
        await tools.offer(await listAll(connection, 'tools', { timeoutMs, clock, signal }));
        await others;
      },
      mask: (text) => maskEnvironment(text, spec, environment),
    });
    return { member, offers };
  };
}

/** Do its clients have connections of their own? Over HTTP they do where it keeps sessions at all. */
function asksClients({ transport, sharing }: UpstreamSpec): boolean {
  return transport.kind === 'http' || sharing !== 'shared';
}

/** Everything a client may turn out to be asked: servers leave tools out of their list for whoever cannot be asked what they need. */
function askable({ roots }: UpstreamSpec): JsonObject {
  return {
    sampling: { context: {}, tools: {} },
    elicitation: { form: {}, url: {} },
    ...(roots.length === 0 ? {} : { roots: { listChanged: true } }),
  };
}

/** With a login each connection is opened through it; without one there is nothing between. */
function dialing(accepted: Acceptable, deps: EnlistmentDeps): Pick<SupervisedDeps, 'open' | 'login'> {
  const { spec, specDigest } = accepted;
  const { transport, auth } = spec;
  const connect = dialer(accepted, deps);
  const open: SupervisedDeps['open'] = (opening) => connect(nothing, opening);
  if (auth.type === 'none') return { open };
  const origin = transport.kind === 'http' ? { origin: new URL(transport.url).origin } : {};
  const binding = { upstream: spec.name, specDigest, auth, ...origin };
  return {
    open,
    login: createLogin({ auth: deps.auth, binding, clock: deps.clock, connect, inProcess: transport.kind === 'stdio' }),
  };
}

const nothing: Lent = { env: {}, login: undefined };

function dialer({ spec, specDigest, program }: Acceptable, deps: EnlistmentDeps): LoginDeps['connect'] {
  const { transport } = spec;
  if (transport.kind === 'http') {
    const { url, headers, addresses } = transport;
    const target = { url, headers, addresses, key: specDigest };
    return ({ login }, opening) => deps.http.open(login === undefined ? target : { ...target, login }, opening);
  }
  const connector = program === undefined ? untilAccepted(spec.name, deps) : deps.connector;
  const child = childOf(spec, transport, program, deps);
  return ({ env }, opening) => connector.open(env === nothing.env ? child : { ...child, env: { ...child.env, ...env } }, opening);
}

function childOf(
  spec: UpstreamSpec,
  { command, args, cwd }: StdioTransport,
  program: string | undefined,
  { environment, log }: EnlistmentDeps,
): ChildSpec {
  const missing = missingPassthrough(spec, environment);
  if (missing.length > 0)
    log.warn('variables to pass on are not set where the daemon runs', { upstream: spec.name, variables: missing });
  return {
    command: program ?? command,
    args,
    env: childEnvironment(spec, environment),
    // Never wherever the daemon happened to be started: `.` in an argument must mean the same every time.
    cwd: cwd ?? environment['HOME'] ?? '/',
  };
}

/** There was no program when the entry was accepted: what turns up later under its name was never shown to anybody. */
function untilAccepted(name: string, { connector, findProgram }: EnlistmentDeps): UpstreamConnector {
  return {
    async open(child, options) {
      const found = await findProgram(child.command, { cwd: child.cwd, path: child.env['PATH'] });
      if (found !== undefined) throw unaccepted(name, `its command now means ${found} and was not installed when it was accepted`);
      return connector.open(child, options);
    },
  };
}
