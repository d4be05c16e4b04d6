// Limits that do nothing, or not what they seem to.
import { covers } from './capability.ts';
import { ownPart, type Place, type PolicyFile, type Section, type StatedLimits } from './document.ts';
import { finding, type LintFinding } from './lint-finding.ts';
import { formatTtl, lowerRate, rateWithin } from './ttl.ts';

export function lintLimits(file: PolicyFile): LintFinding[] {
  return [
    ...effectless(file.limits),
    ...repeatedDenies(file.limits),
    ...file.sections.flatMap((section) => [
      ...effectless(section.limits),
      ...repeatedDenies(section.limits),
      ...ceilings(file, section),
      ...rates(file, section),
    ]),
  ];
}

const start: Place = { line: 1, column: 1 };

function effectless({ places }: StatedLimits): LintFinding[] {
  return ['max_lease_total', 'max_inline_bytes'].flatMap((key) => {
    const place = places.get(key);
    return place === undefined ? [] : [finding('note', place, `'${key}' is read and kept, but has no effect in this version.`)];
  });
}

function repeatedDenies({ deny }: StatedLimits): LintFinding[] {
  return deny.flatMap(({ pattern, place }, index) => {
    const other = deny.find(
      (candidate, at) => at !== index && covers(candidate.pattern, pattern) && (at < index || !covers(pattern, candidate.pattern)),
    );
    return other === undefined
      ? []
      : [finding('note', place, `'${pattern.text}' is already denied by '${other.pattern.text}' (line ${other.place.line}).`)];
  });
}

function ceilings(file: PolicyFile, section: Section): LintFinding[] {
  const { limits, place } = section;
  const { rules, defaultTtlMs } = ownPart(section);
  const maxMs = Math.min(file.limits.maxTtlMs ?? Infinity, limits.maxTtlMs ?? Infinity);
  const cut = (ttlMs: number | undefined, at: Place, what: string): LintFinding[] =>
    ttlMs === undefined || ttlMs <= maxMs
      ? []
      : [finding('note', at, `${what} of ${formatTtl(ttlMs)} is cut to max_ttl, ${formatTtl(maxMs)}.`)];
  return [...cut(defaultTtlMs, place, 'The default_ttl'), ...rules.flatMap((rule) => cut(rule.ttlMs, rule.place, 'The ttl'))];
}

function rates(file: PolicyFile, { limits }: Section): LintFinding[] {
  const [outer, inner] = [file.limits.rate, limits.rate];
  if (outer === undefined || inner === undefined || rateWithin(inner, outer)) return [];
  const place = limits.places.get('rate_limit') ?? start;
  return [
    finding(
      'note',
      place,
      `rate_limit ${inner.text} and the global ${outer.text} together are kept by ${lowerRate(inner, outer).text}.`,
    ),
  ];
}
