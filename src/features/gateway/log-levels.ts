// How severe log messages have to be for a session to hear of them (2025-11-25, "Logging"), and who upstream is told so. Carries no
// message.
import type { AgentCaller } from '../../kernel/caller.ts';
import { logLevels, type LogLevel } from '../../kernel/dispatch.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Offerings } from './offering.ts';

export interface LogLevels {
  /** `undefined`: none from now on. */
  set(caller: AgentCaller, level: LogLevel | undefined): void;
  /**
   * Whether a message of this level is for the caller. What a session did not ask for it is not flooded with: until it says otherwise it
   * hears `info` and worse, whatever louder level another session of the same upstream asked for. A level that is none counts as the
   * least severe of all. Who has no session says it with each request, to its own door.
   */
  wanted(caller: Pick<AgentCaller, 'session' | 'sessionless'>, level: unknown): boolean;
  end(session: string): void;
}

/** Of a session that said nothing: the server decides ("Setting Log Level"). */
const usual: LogLevel = 'info';

export function createLogLevels({ fleet, reaches }: { readonly fleet: Fleet; readonly reaches: Offerings['reaches'] }): LogLevels {
  const chosen = new Map<string, LogLevel | undefined>();

  return {
    set(caller, level) {
      chosen.set(caller.session, level);
      for (const upstream of fleet.upstreams()) if (reaches(caller.agent, upstream)) fleet.logLevel(upstream, caller, level);
    },
    wanted({ session, sessionless }, level) {
      if (sessionless === true) return true;
      const least = chosen.has(session) ? chosen.get(session) : usual;
      return least !== undefined && rank(level) >= rank(least);
    },
    end: (session) => void chosen.delete(session),
  };
}

function rank(level: unknown): number {
  return (logLevels as readonly unknown[]).indexOf(level);
}
