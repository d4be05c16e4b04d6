// The names agents see at `/mcp`: `<upstream>__<tool>`, and a stable short form where model APIs would refuse that. A name follows from
// upstream and tool alone; only names that differ by letter case (or a mapped dot) look at each other. Pure; knows no definition, no policy.
import type { Digest } from '../../kernel/ports.ts';
import { undotted } from '../../lib/undotted.ts';
import { hex } from './definition.ts';
import type { Naming, ToolKey } from './model.ts';

const joint = '__';
/** Hex digits of SHA-256 in a short form, and in the one for short forms that still meet. */
const [few, many] = [8, 32] as const;
/** What short forms end in. A tool that calls itself so gets a short form as well, so that no name can pass for another's. */
const mark = new RegExp(`${joint}(?:[0-9a-f]{${few}}|[0-9a-f]{${many}})$`, 'i');
/** Of the room for readable text, what a long upstream name leaves to the tool. */
const toolShare = 0.6;

/** The name that is always understood, listed or not. */
export function fullName({ upstream, tool }: ToolKey): string {
  return `${upstream}${joint}${tool}`;
}

/**
 * One name for each tool, at most `naming.longest` characters of `[A-Za-z0-9_-]` and, unless the style is `safe`, `.`; no two equal, not
 * even without regard to letter case; whatever the order of `tools`. In the plain style a name that once meant one tool never comes to
 * mean another. `tools` has no pair of upstream and tool twice.
 */
export function assignNames<Tool extends ToolKey>(tools: Iterable<Tool>, naming: Naming, digest: Digest): Map<Tool, string> {
  const names = new Map<Tool, string>();
  const short: Tool[] = [];
  const readable = Map.groupBy(tools, (tool) => readableName(tool, naming)?.toLowerCase());
  for (const [folded, group] of readable) {
    const keeper = folded === undefined ? undefined : keeperOf(group, naming);
    for (const tool of group) {
      if (tool === keeper) names.set(tool, readableName(tool, naming) ?? '');
      else short.push(tool);
    }
  }
  const shortened = Map.groupBy(short, (tool) => shortName(tool, naming, digest).toLowerCase());
  for (const group of shortened.values()) {
    // Whoever meets another loses the name as well: it must not mean one today and the other tomorrow.
    const digits = group.length === 1 ? few : many;
    for (const tool of group) names.set(tool, shortName(tool, naming, digest, digits));
  }
  return names;
}

/**
 * Who keeps a name that several would have, letter case aside: of those that are spelled so themselves the last by code point, which is
 * the one in lower case. Where all of them had to be mapped, nobody.
 */
function keeperOf<Tool extends ToolKey>(group: readonly Tool[], naming: Naming): Tool | undefined {
  if (group.length === 1) return group[0];
  return group.filter(({ tool }) => spelled(tool, naming) === tool).toSorted((a, b) => (a.tool < b.tool ? 1 : -1))[0];
}

/** Nothing where only a short form will do. */
function readableName({ upstream, tool }: ToolKey, naming: Naming): string | undefined {
  const name = fullName({ upstream, tool: spelled(tool, naming) });
  // `a_` and `b` read like `a` and `_b`: the latter owns that name, as the cut is made at the first joint.
  const ambiguous = upstream.endsWith('_');
  return name.length > naming.longest || ambiguous || !/^[A-Za-z0-9_.-]+$/.test(name) || mark.test(name.slice(upstream.length))
    ? undefined
    : name;
}

/** The form a tool has where its readable name cannot be had. */
export function shortName({ upstream, tool }: ToolKey, naming: Naming, digest: Digest, digits: number = few): string {
  const room = naming.longest - 2 * joint.length - digits;
  const legible = spelled(tool, naming).replaceAll(/[^A-Za-z0-9_.-]/g, '_');
  const tail = legible.slice(0, Math.max(room - upstream.length, Math.ceil(room * toolShare)));
  const head = upstream.slice(0, room - tail.length);
  // The capability names the tool beyond doubt, as two colons divide what the joint may not.
  const sum = hex(digest.sha256(`${upstream}:call:${tool}`)).slice(0, digits);
  return `${head}${joint}${tail}${joint}${sum}`;
}

function spelled(tool: string, { style }: Naming): string {
  return style === 'safe' ? undotted(tool) : tool;
}
