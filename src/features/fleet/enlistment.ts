// Makes a member of an accepted entry: how it is reached and its listing joined to the supervision. Decides nothing.
import type { ChildSpec, Clock, Entropy, HttpConnector, Log, UpstreamConnector } from '../../kernel/ports.ts';
import type { Audit } from '../audit/audit.ts';
import { childEnvironment, maskEnvironment, missingPassthrough } from './environment.ts';
import { listTools } from './listing.ts';
import type { PinnedTools } from './pinned-tools.ts';
import { unaccepted } from './refusals.ts';
import type { Acceptable, FindProgram } from './roster.ts';
import type { StdioTransport, UpstreamSpec } from './model.ts';
import { createSupervised, type Supervised, type SupervisedDeps } from './supervised.ts';

export interface EnlistmentDeps {
  readonly audit: Audit;
  readonly connector: UpstreamConnector;
  readonly http: HttpConnector;
  readonly findProgram: FindProgram;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export function createEnlistment(deps: EnlistmentDeps): (accepted: Acceptable, tools: PinnedTools) => Supervised {
  const { environment, clock } = deps;
  return (accepted, tools) => {
    const { spec, specDigest } = accepted;
    const signal = new AbortController().signal;
    return createSupervised({
      ...deps,
      name: spec.name,
      specDigest,
      open: dialer(accepted, deps),
      startTimeoutMs: spec.startTimeoutMs,
      maxSessions: spec.maxSessions,
      list: async (connection, timeoutMs) => tools.offer(await listTools(connection, timeoutMs, clock, signal)),
      mask: (text) => maskEnvironment(text, spec, environment),
    });
  };
}

function dialer({ spec, specDigest, program }: Acceptable, deps: EnlistmentDeps): SupervisedDeps['open'] {
  const { transport } = spec;
  if (transport.kind === 'http') {
    const target = { url: transport.url, headers: transport.headers, key: specDigest };
    return (opening) => deps.http.open(target, opening);
  }
  const connector = program === undefined ? untilAccepted(spec.name, deps) : deps.connector;
  const child = childOf(spec, transport, program, deps);
  return (opening) => connector.open(child, opening);
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
