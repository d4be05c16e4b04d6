// One rule of `capabilities:`. `effect:` is the word for what it does; auto_approve and require are the older way to say it.
import type { Effect, HintCondition, Rule } from './document.ts';
import { hintNames } from './document.ts';
import { redactCategories, type Guard, type RedactCategory } from './model.ts';
import { parsePattern, parseResourcePattern } from './pattern.ts';
import { parseTtl } from './ttl.ts';
import { attempt, type Member, type YamlNode, type YamlText } from './yaml-text.ts';

const keys = ['match', 'effect', 'auto_approve', 'require', 'ttl', 'redact', 'when', 'annotations'] as const;
const effects = ['allow', 'ask', 'deny'] as const;
const sayEffect = "Write 'effect: allow', 'effect: ask' or 'effect: deny'.";

type Members = ReadonlyMap<string, Member>;

/** The rule, or `undefined` with at least one finding. */
export function readRule(yaml: YamlText, node: YamlNode): Rule | undefined {
  const members = yaml.map(node, 'a rule', keys);
  if (members === undefined) return undefined;
  const match = members.get('match');
  if (match === undefined) return yaml.fail(node, "The rule has no 'match'.", "Write 'match: <upstream>:<action>:<resource>'.");
  const text = yaml.text(match.value, "'match'");
  const pattern = text === undefined ? undefined : attempt(yaml, match.value, () => parsePattern(text));
  const effect = readEffect(yaml, node, members);
  const rule = {
    ttlMs: readTtl(yaml, members.get('ttl')),
    redact: readRedact(yaml, members.get('redact')),
    guard: readGuard(yaml, members.get('when')),
    hints: readHints(yaml, members.get('annotations')),
    place: yaml.place(node),
  };
  if (pattern === undefined || effect === undefined) return undefined;
  if (effect === 'deny') {
    for (const key of ['ttl', 'redact']) {
      const needless = members.get(key);
      if (needless !== undefined) yaml.fail(needless.key, `A rule that denies has no use for '${key}'.`, 'Remove it.');
    }
  }
  return { pattern, effect, ...rule };
}

function readEffect(yaml: YamlText, node: YamlNode, members: Members): Effect | undefined {
  const [effect, approve, require] = [members.get('effect'), members.get('auto_approve'), members.get('require')];
  const stated = effect === undefined ? undefined : yaml.scalar(effect.value);
  if (effect !== undefined && !effects.some((known) => known === stated)) {
    return yaml.fail(effect.value, "'effect' must be allow, ask or deny.", sayEffect);
  }
  const approved = approve === undefined ? undefined : yaml.scalar(approve.value);
  if (approve !== undefined && typeof approved !== 'boolean')
    return yaml.fail(approve.value, "'auto_approve' must be true or false.");
  if (require !== undefined && yaml.scalar(require.value) !== 'human_approval') {
    return yaml.fail(require.value, "'require' knows one value: human_approval.", "Write 'effect: ask' instead.");
  }
  const older = require === undefined ? approved === true && 'allow' : 'ask';
  const contradicts = stated !== undefined && (older === false ? approved === false && stated === 'allow' : older !== stated);
  if (contradicts) {
    const other = require === undefined ? 'auto_approve' : 'require';
    return yaml.fail(
      effect?.value ?? node,
      `'effect: ${stated as string}' contradicts '${other}' of the same rule.`,
      `Keep 'effect' and remove '${other}'.`,
    );
  }
  if (stated !== undefined) return stated as Effect;
  if (older !== false) return older;
  return yaml.fail(node, 'The rule says nothing about what happens: it has no effect.', sayEffect);
}

function readTtl(yaml: YamlText, member: Member | undefined): number | undefined {
  if (member === undefined) return undefined;
  const text = yaml.text(member.value, "'ttl'");
  return text === undefined ? undefined : attempt(yaml, member.value, () => parseTtl(text));
}

function readRedact(yaml: YamlText, member: Member | undefined): readonly RedactCategory[] {
  if (member === undefined) return [];
  const found = new Set<RedactCategory>();
  for (const item of yaml.list(member.value, "'redact'") ?? []) {
    const name = yaml.scalar(item);
    const category = redactCategories.find((known) => known === name);
    if (category !== undefined) found.add(category);
    else if (name === 'pii') for (const each of redactCategories) found.add(each);
    else yaml.fail(item, "'redact' knows pii, email, phone, card and aws_access_key.");
  }
  return redactCategories.filter((category) => found.has(category));
}

function readGuard(yaml: YamlText, member: Member | undefined): Guard | undefined {
  if (member === undefined) return undefined;
  const named = yaml.map(member.value, "'when'", 'any');
  if (named === undefined) return undefined;
  if (named.size === 0) return yaml.fail(member.key, "'when' names no argument.", 'Remove it, or name an argument and its value.');
  const entries: [string, string | number | boolean][] = [];
  for (const [name, { value }] of named) {
    const expected = yaml.scalar(value);
    if (typeof expected === 'string') attempt(yaml, value, () => parseResourcePattern(expected));
    if (isGuardValue(expected)) entries.push([name, expected]);
    else yaml.fail(value, `The argument '${name}' needs a text, a number, true or false.`);
  }
  return Object.fromEntries(entries);
}

/** Numbers as strict JSON can carry them: finite, and exact when they are whole. */
function isGuardValue(value: unknown): value is string | number | boolean {
  if (typeof value === 'number') return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
  return typeof value === 'string' || typeof value === 'boolean';
}

function readHints(yaml: YamlText, member: Member | undefined): HintCondition | undefined {
  if (member === undefined) return undefined;
  const named = yaml.map(member.value, "'annotations'", hintNames);
  if (named === undefined) return undefined;
  if (named.size === 0)
    return yaml.fail(member.key, "'annotations' names no hint.", `Name one of ${hintNames.join(', ')}, or remove it.`);
  const entries: [string, boolean][] = [];
  for (const [name, { value }] of named) {
    const expected = yaml.scalar(value);
    if (typeof expected === 'boolean') entries.push([name, expected]);
    else yaml.fail(value, `'${name}' must be true or false.`);
  }
  return Object.fromEntries(entries);
}
