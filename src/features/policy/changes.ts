// What changed between two policies, line by line, for the person who decides about it. Says nothing of wider or narrower.
import { ownPart, ruleText, type PolicyFile, type Rule, type Section, type StatedLimits } from './document.ts';
import { formatTtl } from './ttl.ts';

/** Empty when they say the same. */
export function describeChanges(before: PolicyFile | undefined, after: PolicyFile): readonly string[] {
  const [olds, nexts] = [byId(before), byId(after)];
  const lines = differences('global limits', limitLines(before?.limits), limitLines(after.limits));
  for (const id of new Set([...olds.keys(), ...nexts.keys()])) {
    const [old, next] = [olds.get(id), nexts.get(id)];
    const title = `section '${id}'`;
    if (old === undefined) lines.push(`+ ${title}`);
    if (next === undefined) lines.push(`- ${title}`);
    lines.push(...differences(title, sectionLines(old), sectionLines(next)));
    if (old !== undefined && next !== undefined && reordered(ownPart(old).rules, ownPart(next).rules))
      lines.push(`~ ${title}: the order of its rules`);
  }
  return lines;
}

const byId = (file: PolicyFile | undefined): Map<string, Section> =>
  new Map((file?.sections ?? []).map((section) => [section.id, section]));

/** What only one side says; a line that is there twice counts twice. */
function differences(title: string, old: readonly string[], next: readonly string[]): string[] {
  return [...without(old, next).map((line) => `- ${title}: ${line}`), ...without(next, old).map((line) => `+ ${title}: ${line}`)];
}

function without(lines: readonly string[], taken: readonly string[]): string[] {
  const left = Map.groupBy(taken, (line) => line);
  return lines.filter((line) => left.get(line)?.pop() === undefined);
}

function reordered(old: readonly Rule[], next: readonly Rule[]): boolean {
  const [before, after] = [old.map(ruleLine), next.map(ruleLine)];
  const kept = before.filter((line) => after.includes(line));
  const still = after.filter((line) => before.includes(line));
  return kept.length === still.length && kept.some((line, at) => line !== still[at]);
}

function sectionLines(section: Section | undefined): string[] {
  if (section === undefined) return [];
  const { rules, defaultTtlMs } = ownPart(section);
  const inherit = section.inherit === undefined ? [] : [`inherit '${section.inherit.section}'`];
  const standard = defaultTtlMs === undefined ? [] : [`default_ttl ${formatTtl(defaultTtlMs)}`];
  return [...inherit, ...standard, ...limitLines(section.limits), ...rules.map(ruleLine)];
}

function ruleLine(rule: Rule): string {
  const { effect, ttlMs, redact } = rule;
  const ttl = ttlMs === undefined ? '' : `, ttl ${formatTtl(ttlMs)}`;
  return `${effect} ${ruleText(rule)}${ttl}${redact.length === 0 ? '' : `, redact ${redact.join(' ')}`}`;
}

function limitLines(limits: StatedLimits | undefined): string[] {
  if (limits === undefined) return [];
  const stated = [
    ['max_ttl', limits.maxTtlMs, formatTtl],
    ['approval_ttl', limits.approvalTtlMs, formatTtl],
    ['max_lease_total', limits.maxLeaseTotalMs, formatTtl],
    ['max_inline_bytes', limits.maxInlineBytes, String],
  ] as const;
  return [
    ...stated.flatMap(([key, value, draw]) => (value === undefined ? [] : [`${key} ${draw(value)}`])),
    ...(limits.rate === undefined ? [] : [`rate_limit ${limits.rate.text}`]),
    ...limits.deny.map(({ pattern }) => `deny ${pattern.text}`),
  ];
}
