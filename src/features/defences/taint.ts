// Agents that read something suspicious: for half an hour it is known what they read and where it came from. In memory: a restart ends
// every session, and whoever makes the daemon restart reads no result. Denies nothing itself.
import { AppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Clock } from '../../kernel/ports.ts';
import type { Audit } from '../audit/audit.ts';
import { injectionPatterns } from './injection-patterns.ts';
import type { SideEffect, TaintMode } from './model.ts';

export interface TaintMark {
  readonly agent: string;
  readonly upstream: string;
  /** Name of the pattern. */
  readonly pattern: string;
  readonly until: number;
}

export interface Taint {
  /** Looks at a result before its agent sees it. */
  look(agent: string, capability: string, text: string): void;
  /**
   * Why a person is asked about this action, whatever grants there are: a write to another upstream than the one the agent read something
   * suspicious from, in mode `enforce`. `undefined`: nobody is.
   */
  asks(agent: string, capability: string, effect: () => SideEffect): string | undefined;
  /** Those that still count. */
  marks(): readonly TaintMark[];
  /** Throws `defences.not_tainted`. */
  clear(agent: string, actor: string, proof: JsonObject | undefined): void;
}

export interface TaintDeps {
  readonly audit: Pick<Audit, 'append' | 'appendQuietly'>;
  readonly clock: Clock;
  readonly mode: () => TaintMode;
}

/** Of a result, in UTF-16 units. */
export const lookedAt = 65_536;
export const taintMs = 30 * 60_000;

/** All of them in one go: nearly every text has none. */
const any = new RegExp(injectionPatterns.map(({ pattern }) => `(?:${pattern.source})`).join('|'), 'i');

/** The name of the first pattern in the table that is in the text. */
export function suspicionIn(text: string): string | undefined {
  const head = text.length > lookedAt ? text.slice(0, lookedAt) : text;
  return any.test(head) ? injectionPatterns.find(({ pattern }) => pattern.test(head))?.name : undefined;
}

export function createTaint({ audit, clock, mode }: TaintDeps): Taint {
  /** By agent, then by upstream. */
  const tainted = new Map<string, Map<string, TaintMark>>();

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
      const ofAgent = tainted.get(agent) ?? new Map<string, TaintMark>();
      ofAgent.set(upstream, { agent, upstream, pattern, until: clock.now() + taintMs });
      tainted.set(agent, ofAgent);
      // Quietly: the result stays what it is, and a flood of such results is no flood of records.
      audit.appendQuietly({ event: 'taint.detected', actor: `agent:${agent}`, facts: { upstream, pattern, mode: mode() } });
    },

    asks(agent, capability, effect) {
      if (tainted.size === 0 || mode() !== 'enforce') return undefined;
      const from = live(agent).find(({ upstream }) => upstream !== upstreamOf(capability));
      if (from === undefined || effect() === 'read') return undefined;
      return (
        `A result of '${from.upstream}' that this agent read looks like an attempt to give it orders (${from.pattern}); until ` +
        `${new Date(from.until).toISOString()} a human decides each time about writes elsewhere, such as '${capability}'.`
      );
    },

    marks: () => [...tainted.keys()].flatMap(live),

    clear(agent, actor, proof) {
      if (live(agent).length === 0)
        throw new AppError('not_found', 'defences.not_tainted', `The agent '${agent}' has read nothing suspicious lately.`);
      audit.append({ event: 'taint.cleared', actor, facts: { agent, ...(proof && { proof }) } });
      tainted.delete(agent);
    },
  };
}

function upstreamOf(capability: string): string {
  return capability.slice(0, capability.indexOf(':'));
}
