// Makes a member of an accepted entry: its environment, its program and its listing joined to the supervision. Decides nothing.
import type { ChildSpec, Clock, Entropy, Log, UpstreamConnector } from '../../kernel/ports.ts';
import type { Audit } from '../audit/audit.ts';
import { childEnvironment, maskEnvironment, missingPassthrough } from './environment.ts';
import { listTools } from './listing.ts';
import type { PinnedTools } from './pinned-tools.ts';
import { unaccepted } from './refusals.ts';
import type { Acceptable, FindProgram } from './roster.ts';
import { createSupervised, type Supervised } from './supervised.ts';

export interface EnlistmentDeps {
  readonly audit: Audit;
  readonly connector: UpstreamConnector;
  readonly findProgram: FindProgram;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export function createEnlistment(deps: EnlistmentDeps): (accepted: Acceptable, tools: PinnedTools) => Supervised {
  const { environment, clock, log } = deps;
  return ({ spec, specDigest, program }, tools) => {
    const { name, transport } = spec;
    const missing = missingPassthrough(spec, environment);
    if (missing.length > 0)
      log.warn('variables to pass on are not set where the daemon runs', { upstream: name, variables: missing });
    const child: ChildSpec = {
      command: program ?? transport.command,
      args: transport.args,
      env: childEnvironment(spec, environment),
      // Never wherever the daemon happened to be started: `.` in an argument must mean the same every time.
      cwd: transport.cwd ?? environment['HOME'] ?? '/',
    };
    const signal = new AbortController().signal;
    return createSupervised({
      ...deps,
      name,
      specDigest,
      child,
      connector: program === undefined ? untilAccepted(name, deps) : deps.connector,
      startTimeoutMs: spec.startTimeoutMs,
      list: async (connection, timeoutMs) => tools.offer(await listTools(connection, timeoutMs, clock, signal)),
      mask: (text) => maskEnvironment(text, spec, environment),
    });
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
