// Adds one allowing rule for one agent to the text of a policy, in the layout it finds: every other byte stays. What it made is read
// again and compared, so that a layout it does not understand is refused, never guessed. Decides nothing about who may.
import { isCollection, isMap, isSeq, type ParsedNode, type YAMLMap, type YAMLSeq } from 'yaml';
import { AppError } from '../../kernel/errors.ts';
import type { Pattern } from './capability.ts';
import { meets } from './capability.ts';
import { describeChanges } from './changes.ts';
import { ownPart, type PolicyFile, type Section } from './document.ts';
import { parsePolicy } from './file.ts';
import { sectionsFor } from './sections.ts';
import { formatTtl } from './ttl.ts';
import { readYaml } from './yaml-text.ts';

export interface NewRule {
  readonly pattern: Pattern;
  readonly ttlMs: number | undefined;
}

interface Insertion {
  readonly at: number;
  readonly text: string;
}

/**
 * `before` with the rule in the agent's own section, ahead of the first rule that would ask about any part of it; an agent without one
 * gets a section that inherits what it had until now. Throws `policy.not_editable` (kind conflict).
 */
export function withRule(before: string, file: PolicyFile, agent: string, rule: NewRule): { text: string; file: PolicyFile } {
  const [section] = sectionsFor(file, agent);
  const own = section?.id === agent ? section : undefined;
  const insertion = own === undefined ? newSection(before, agent, section, rule) : intoSection(before, own, rule);
  if (insertion === undefined) throw notEditable(agent, rule);
  const text = before.slice(0, insertion.at) + insertion.text + before.slice(insertion.at);
  const parsed = parsePolicy(text);
  const inherit = section === undefined ? [] : [`+ section '${agent}': inherit '${section.id}'`];
  const expected = [...(own === undefined ? [`+ section '${agent}'`, ...inherit] : []), `+ section '${agent}': ${saying(rule)}`];
  if (!parsed.ok || describeChanges(file, parsed.file).join('\n') !== expected.join('\n')) throw notEditable(agent, rule);
  const at = own === undefined ? 0 : placeIn(own, rule);
  const found = parsed.file.sections.find(({ id }) => id === agent)?.rules[at];
  if (found?.pattern.text !== rule.pattern.text || found.effect !== 'allow') throw notEditable(agent, rule);
  return { text, file: parsed.file };
}

const saying = ({ pattern, ttlMs }: NewRule): string =>
  `allow ${pattern.text}${ttlMs === undefined ? '' : `, ttl ${formatTtl(ttlMs)}`}`;

/** Where it decides: behind an ask about any part of it, the whole would still ask. */
function placeIn(section: Section, { pattern }: NewRule): number {
  const { rules } = ownPart(section);
  const asking = rules.findIndex((rule) => rule.effect === 'ask' && meets(rule.pattern, pattern));
  return asking < 0 ? rules.length : asking;
}

function intoSection(text: string, section: Section, rule: NewRule): Insertion | undefined {
  const map = member(member(readYaml(text).root, 'agents'), section.id);
  if (!isMap(map)) return undefined;
  const listed = member(map, 'capabilities');
  if (listed === undefined) return newMember(text, map, 'capabilities', rule);
  if (!isSeq(listed)) return undefined;
  const at = placeIn(section, rule);
  return listed.flow === true ? intoFlow(listed, at, rule) : intoBlock(text, listed, at, rule);
}

function intoFlow(list: YAMLSeq.Parsed, at: number, rule: NewRule): Insertion {
  const next = list.items[at];
  if (next !== undefined) return { at: next.range[0], text: `${written(rule)}, ` };
  const last = list.items.at(-1);
  return last === undefined ? { at: list.range[0] + 1, text: written(rule) } : { at: last.range[1], text: `, ${written(rule)}` };
}

function intoBlock(text: string, list: YAMLSeq.Parsed, at: number, rule: NewRule): Insertion {
  const column = columnOf(text, list.range[0]);
  const lines = [`${' '.repeat(column)}- ${written(rule)}`];
  const next = list.items[at];
  if (next === undefined) return behind(text, list, lines);
  let start = lineStart(text, next.range[0]);
  while (text[start + column] !== '-' && start > list.range[0]) start = lineStart(text, start - 1);
  // What is said about the next rule stays with it.
  while (start > 0 && isComment(text, lineStart(text, start - 1))) start = lineStart(text, start - 1);
  return { at: start, text: lines.map((line) => line + ending(text)).join('') };
}

function newSection(text: string, agent: string, under: Section | undefined, rule: NewRule): Insertion | undefined {
  const agents = member(readYaml(text).root, 'agents');
  if (!isMap(agents)) return undefined;
  const inherit = under === undefined ? [] : [`inherit: ${quoted(under.id)}`];
  if (agents.flow === true) {
    const inside = [...inherit, `capabilities: [${written(rule)}]`].join(', ');
    return intoFlowMap(agents, `${quoted(agent)}: { ${inside} }`);
  }
  const pad = ' '.repeat(columnOf(text, firstKey(agents)));
  const more = [...inherit, 'capabilities:'].map((line) => `${pad}  ${line}`);
  return behind(text, agents, [`${pad}${quoted(agent)}:`, ...more, `${pad}    - ${written(rule)}`]);
}

function newMember(text: string, map: YAMLMap.Parsed, key: string, rule: NewRule): Insertion {
  if (map.flow === true) return intoFlowMap(map, `${key}: [${written(rule)}]`);
  const pad = ' '.repeat(columnOf(text, firstKey(map)));
  return behind(text, map, [`${pad}${key}:`, `${pad}  - ${written(rule)}`]);
}

function intoFlowMap(map: YAMLMap.Parsed, text: string): Insertion {
  return map.items.length === 0
    ? { at: map.range[0] + 1, text: ` ${text} ` }
    : { at: endOf(map.items.at(-1)?.value ?? map), text: `, ${text}` };
}

/** Lines after the last line of a block. */
function behind(text: string, block: ParsedNode, lines: readonly string[]): Insertion {
  const end = text.indexOf('\n', Math.max(0, endOf(block) - 1));
  const eol = ending(text);
  if (end < 0) return { at: text.length, text: lines.map((line) => eol + line).join('') };
  return { at: end + 1, text: lines.map((line) => line + eol).join('') };
}

/** Where the last value of a node ends, without the comments behind it. */
function endOf(node: ParsedNode): number {
  if (!isCollection(node) || node.flow === true) return node.range[1];
  const last = node.items.at(-1);
  const inner = isMap(node) ? (last as YAMLMap.Parsed['items'][number] | undefined)?.value : (last as ParsedNode | undefined);
  return inner === undefined || inner === null ? node.range[1] : endOf(inner);
}

function member(node: ParsedNode | null | undefined, key: string): ParsedNode | undefined {
  return isMap(node) ? (node.get(key, true) as ParsedNode | undefined) : undefined;
}

const firstKey = (map: YAMLMap.Parsed): number => map.items[0]?.key.range[0] ?? map.range[0];
const lineStart = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1;
const columnOf = (text: string, at: number): number => at - lineStart(text, at);
const isComment = (text: string, start: number): boolean => /^[ \t]*#/.test(text.slice(start, text.indexOf('\n', start)));
const ending = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n');
const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

function written({ pattern, ttlMs }: NewRule): string {
  return `{ match: ${quoted(pattern.text)}, ${ttlMs === undefined ? '' : `ttl: ${formatTtl(ttlMs)}, `}effect: allow }`;
}

function notEditable(agent: string, rule: NewRule): AppError {
  return new AppError('conflict', 'policy.not_editable', 'policies.yaml is laid out in a way no rule can be added to safely.', {
    hint: `Write - ${written(rule)} under section '${agent}' yourself, then run: sallyport policies adopt`,
  });
}
