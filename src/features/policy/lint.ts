// What is allowed in a policy but hardly meant: rules that never decide, questions that are never asked, names nobody has.
import { covers, meets } from './capability.ts';
import { holdsWhenever } from './conditions.ts';
import { ownPart, ruleText, type PolicyFile, type Rule, type Section } from './document.ts';
import { finding, type LintFinding } from './lint-finding.ts';
import { lintGit } from './lint-git.ts';
import { lintLimits } from './lint-limits.ts';
import { parsePattern } from './pattern.ts';
import { builtIns } from './reach.ts';
import { sectionsFor } from './sections.ts';
import { wildcardCovers, wildcardsMeet, type Wildcard } from './wildcard.ts';

/** In the order of the text. `agents`: the names there are; without them nothing is said about names. */
export function lint(file: PolicyFile, agents?: readonly string[]): readonly LintFinding[] {
  const findings = [
    ...lintLimits(file),
    ...lintGit(file),
    ...file.sections.flatMap((section) => [...lintRules(file, section), ...lintSection(file, section)]),
    ...(agents === undefined ? [] : lintNames(file, agents)),
  ];
  return findings.toSorted((one, other) => one.line - other.line || one.column - other.column);
}

const calls = parsePattern('*:call:*');

function lintRules(file: PolicyFile, section: Section): LintFinding[] {
  const denies = deniesOver(file, section.agents);
  const { rules } = ownPart(section);
  return rules.flatMap((rule, index) => {
    const earlier = rules.slice(0, index).filter(({ effect }) => effect !== 'deny');
    return [...conditionless(rule), ...(rule.effect === 'deny' ? [] : (unheard(rule, earlier, denies) ?? heard(rule, earlier)))];
  });
}

type DenyLike = Pick<Rule, 'pattern' | 'guard' | 'hints' | 'place'>;

/** Denies that hold for every agent of a section. */
function deniesOver(file: PolicyFile, agents: Wildcard): DenyLike[] {
  const over = file.sections.filter((section) => wildcardCovers(section.agents, agents.text));
  const limits = [file.limits, ...over.map((section) => section.limits)].flatMap(({ deny }) => deny);
  return [
    ...limits.map((deny) => ({ ...deny, guard: undefined, hints: undefined })),
    ...over.flatMap(({ rules }) => rules.filter(({ effect, guard }) => effect === 'deny' && guard === undefined)),
  ];
}

/** Why a rule never decides anything, if it never does. */
function unheard(rule: Rule, earlier: readonly Rule[], denies: readonly DenyLike[]): LintFinding[] | undefined {
  const text = ruleText(rule);
  const deny = denies.find((candidate) => covers(candidate.pattern, rule.pattern) && holdsWhenever(candidate, rule));
  if (deny !== undefined) {
    return [
      finding(
        'warning',
        rule.place,
        `Dead: all of '${text}' is denied by '${deny.pattern.text}' (line ${deny.place.line}).`,
        'Remove one of the two.',
      ),
    ];
  }
  const before = earlier.find((candidate) => covers(candidate.pattern, rule.pattern) && holdsWhenever(candidate, rule));
  if (before === undefined) return undefined;
  const line = before.place.line;
  if (ruleText(before) === text && before.effect !== rule.effect) {
    return [
      finding(
        'warning',
        rule.place,
        `Contradiction: '${text}' is '${rule.effect}' here and '${before.effect}' in line ${line}, which decides.`,
        'Keep one of them.',
      ),
    ];
  }
  const bounds = rule.ttlMs !== undefined || rule.redact.length > 0 ? ' Its ttl and redactions still count.' : '';
  const message =
    before.effect === 'allow' && rule.effect === 'ask'
      ? `Shadowed: nobody is ever asked about '${text}', since '${ruleText(before)}' (line ${line}) allows all of it first.${bounds}`
      : `Shadowed: '${text}' never decides, since '${ruleText(before)}' (line ${line}) covers all of it first.${bounds}`;
  return [finding('warning', rule.place, message, 'Move it up, or remove it.')];
}

function heard(rule: Rule, earlier: readonly Rule[]): LintFinding[] {
  const text = ruleText(rule);
  const found: LintFinding[] = [];
  const leak =
    rule.effect === 'ask'
      ? earlier.find(({ effect, pattern }) => effect === 'allow' && meets(pattern, rule.pattern) && !covers(rule.pattern, pattern))
      : undefined;
  if (leak !== undefined) {
    const severity = leak.guard === undefined && leak.hints === undefined ? 'warning' : 'note';
    found.push(
      finding(
        severity,
        rule.place,
        `A part of '${text}' passes without asking: '${ruleText(leak)}' (line ${leak.place.line}) allows it first.`,
        'Move the rule that asks up.',
      ),
    );
  }
  const lifted = rule.effect === 'allow' ? builtIns.find(({ pattern }) => meets(pattern, rule.pattern)) : undefined;
  if (lifted !== undefined) {
    found.push(
      finding(
        'warning',
        rule.place,
        `'${text}' also allows '${lifted.pattern.text}', about which a person is asked by default.`,
        'Name the upstreams it is meant for.',
      ),
    );
  }
  return found;
}

/** Conditions where there is nothing they could be about. */
function conditionless(rule: Rule): LintFinding[] {
  if (meets(rule.pattern, calls)) return [];
  const text = ruleText(rule);
  const found: LintFinding[] = [];
  if (rule.guard !== undefined)
    found.push(
      finding(
        'warning',
        rule.place,
        `'${text}' tests arguments, but only tool calls have some.`,
        "Remove 'when', or match '<upstream>:call:<tool>'.",
      ),
    );
  if (rule.hints !== undefined)
    found.push(
      finding('warning', rule.place, `'${text}' never applies: only tools have annotations.`, "Match '<upstream>:call:<tool>'."),
    );
  return found;
}

function lintSection(file: PolicyFile, section: Section): LintFinding[] {
  const found: LintFinding[] = [];
  if (section.rules.every(({ effect }) => effect === 'deny')) {
    found.push(
      finding(
        'warning',
        section.place,
        `Section '${section.id}' permits nothing, and its agents get no rules from any other section.`,
        "Add rules under 'capabilities', or remove the section.",
      ),
    );
  }
  const rival = file.sections.find(
    ({ id, agents }) =>
      id > section.id &&
      id.length === section.id.length &&
      id.includes('*') &&
      section.id.includes('*') &&
      wildcardsMeet(agents, section.agents),
  );
  if (rival !== undefined) {
    found.push(
      finding(
        'note',
        section.place,
        `Sections '${section.id}' and '${rival.id}' can match the same agent; '${section.id}' wins, being first in the alphabet.`,
      ),
    );
  }
  return found;
}

function lintNames(file: PolicyFile, agents: readonly string[]): LintFinding[] {
  const unknown = file.sections
    .filter(({ id, agents: names }) => id !== '*' && !agents.some((agent) => wildcardCovers(names, agent)))
    .map(({ id, place }) =>
      finding('note', place, `No agent is called '${id}'.`, id.includes('*') ? undefined : `Add it: sallyport agent add ${id}`),
    );
  const homeless = agents
    .filter((agent) => sectionsFor(file, agent).length === 0)
    .map((agent) => finding('note', { line: 1, column: 1 }, `Agent '${agent}' has no section: everything is denied to it.`));
  return [...unknown, ...homeless];
}
