// Agents that read something suspicious: for half an hour it is known what they read and where it came from, restarts included. Answers from
// memory. Denies nothing itself.
import { AppError } from '../../kernel/errors.ts';
import type { Database } from '../../kernel/database.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { ToolAnnotations } from '../../kernel/operation.ts';
import type { Clock, Log } from '../../kernel/ports.ts';
import type { Audit } from '../audit/audit.ts';
import { injectionPatterns } from './injection-patterns.ts';
import type { DefenceSettings } from './defence-settings.ts';
import type { TaintMark, TaintMode } from './model.ts';
import { deleteTaint, putTaint, readTaint } from './store.ts';

export interface Taint {
  /** Looks at a result before its agent sees it. */
  look(agent: string, capability: string, text: string): void;
  /**
   * Why a person is asked about this action, whatever grants there are: a write to another upstream than the one the agent read something
   * suspicious from, in mode `enforce`. `undefined`: nobody is.
   */
  asks(agent: string, capability: string, annotations: ToolAnnotations): string | undefined;
  /** Those that still count. */
  marks(): readonly TaintMark[];
  /** Throws `defences.not_tainted`. */
  clear(agent: string, actor: string, proof: JsonObject | undefined): Promise<void>;
}

export interface TaintDeps {
  readonly db: Database;
  readonly audit: Pick<Audit, 'commit' | 'appendQuietly'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Pick<DefenceSettings, 'modes' | 'effectOf'>;
}

/** Of a result, in UTF-16 units. */
export const lookedAt = 65_536;
export const taintMs = 30 * 60_000;
/** A mark that is no older is not written again: it counts from the newest result in memory, and this much less after a restart. */
const writtenEveryMs = 60_000;

/** All of them in one go: nearly every text has none. */
const any = new RegExp(injectionPatterns.map(({ pattern }) => `(?:${pattern.source})`).join('|'), 'i');

/** The name of the first pattern in the table that is in the text. */
export function suspicionIn(text: string): string | undefined {
  const head = text.length > lookedAt ? text.slice(0, lookedAt) : text;
  return any.test(head) ? injectionPatterns.find(({ pattern }) => pattern.test(head))?.name : undefined;
}

export async function createTaint({ db, audit, clock, log, settings }: TaintDeps): Promise<Taint> {
  /** By agent, then by upstream. */
  const tainted = new Map<string, Map<string, TaintMark>>();
  const mode = (): TaintMode => settings.modes().taint;
  for (const mark of await readTaint(db.queries)) if (mark.until > clock.now()) put(mark);

  function put(mark: TaintMark): void {
    const ofAgent = tainted.get(mark.agent) ?? new Map<string, TaintMark>();
    tainted.set(mark.agent, ofAgent.set(mark.upstream, mark));
  }

  /** The result does not wait for the row; without one the mark ends with the process. */
  function write(mark: TaintMark): void {
    audit
      .commit(
        async (tx) => {
          await putTaint(tx, mark, clock.now());
          return { value: undefined, entries: [] };
        },
        { keepsRights: true },
      )
      .catch((error: unknown) =>
        log.error('a suspicious result is remembered until the next start only', { cause: String(error) }),
      );
  }

  function live(agent: string): TaintMark[] {
    const ofAgent = tainted.get(agent);
    if (ofAgent === undefined) return [];
    for (const [upstream, { until }] of ofAgent) if (until <= clock.now()) ofAgent.delete(upstream);
    if (ofAgent.size === 0) tainted.delete(agent);
    return [...ofAgent.values()];
  }

  return {
    look(agent, capability, text) {
      if (mode() === 'off') return;
      const pattern = suspicionIn(text);
      if (pattern === undefined) return;
      const upstream = upstreamOf(capability);
      const before = tainted.get(agent)?.get(upstream);
      const mark = { agent, upstream, pattern, until: clock.now() + taintMs };
      put(mark);
      if (before === undefined || mark.until - before.until >= writtenEveryMs) write(mark);
      // Quietly: the result stays what it is, and a flood of such results is no flood of records.
      audit.appendQuietly({ event: 'taint.detected', actor: `agent:${agent}`, facts: { upstream, pattern, mode: mode() } });
    },

    asks(agent, capability, annotations) {
      if (tainted.size === 0 || mode() !== 'enforce') return undefined;
      const from = live(agent).find(({ upstream }) => upstream !== upstreamOf(capability));
      if (from === undefined || settings.effectOf(capability, annotations) === 'read') return undefined;
      return (
        `A result of '${from.upstream}' that this agent read looks like an attempt to give it orders (${from.pattern}); until ` +
        `${new Date(from.until).toISOString()} a human decides each time about writes elsewhere, such as '${capability}'.`
      );
    },

    marks: () => [...tainted.keys()].flatMap(live),

    async clear(agent, actor, proof) {
      if (live(agent).length === 0)
        throw new AppError('not_found', 'defences.not_tainted', `The agent '${agent}' has read nothing suspicious lately.`);
      await audit.commit(
        async (tx) => {
          await deleteTaint(tx, agent);
          return { value: undefined, entries: [{ event: 'taint.cleared', actor, facts: { agent, ...(proof && { proof }) } }] };
        },
        { decision: true },
      );
      tainted.delete(agent);
    },
  };
}

function upstreamOf(capability: string): string {
  return capability.slice(0, capability.indexOf(':'));
}
