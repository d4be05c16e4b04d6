// Patterns in rules, denies and guards, written by people: `*` anywhere, `{a,b}` alternatives, nothing else (DESIGN §2).
// Alternatives are bounded when read, so that a rule can never cost more than what it shows.
import type { Pattern } from './capability.ts';
import { badCapability, checkCharacters, maxPart, maxResource } from './characters.ts';
import { wildcard, type Wildcard } from './wildcard.ts';

const maxAlternatives = 64;

const upstreamPattern = /^[a-z0-9*][a-z0-9_*-]*$/;
const actionPattern = /^[a-z*][a-z0-9_*-]*$/;

/** Throws `policy.bad_capability` (kind invalid) with a hint. */
export function parsePattern(text: string): Pattern {
  checkCharacters(text, 'pattern');
  const [upstream, action, resource] = splitParts(text);
  return {
    text,
    upstream: alternatives(upstream).map((part) => checkedPart('upstream', part, upstreamPattern)),
    action: alternatives(action).map((part) => checkedPart('action', part, actionPattern)),
    resource: resourceAlternatives(resource),
  };
}

/** A pattern of the resource kind alone, as guards use it. Throws `policy.bad_capability`. */
export function parseResourcePattern(text: string): readonly Wildcard[] {
  checkCharacters(text, 'pattern');
  return resourceAlternatives(text);
}

function resourceAlternatives(text: string): readonly Wildcard[] {
  return alternatives(text).map((part) => {
    if (part === '') throw badCapability('The resource is empty.', "Write '*' for any resource.");
    if (Array.from(part).length > maxResource) {
      throw badCapability(`The resource is longer than ${maxResource} characters.`, "Shorten it with '*'.");
    }
    return wildcard(part);
  });
}

function checkedPart(what: 'upstream' | 'action', part: string, name: RegExp): Wildcard {
  if (part.length > maxPart) throw badCapability(`The ${what} is longer than ${maxPart} characters.`, "Shorten it with '*'.");
  if (!name.test(part) || (what === 'upstream' && part.includes('__'))) {
    const charset = what === 'upstream' ? 'a-z, 0-9, single _, - and *' : 'a-z, 0-9, _, - and *, not beginning with a digit';
    throw badCapability(`'${part}' matches no ${what}.`, `An ${what} is written with ${charset}.`);
  }
  return wildcard(part);
}

/** The three parts; the first two colons outside braces divide them. */
function splitParts(text: string): [string, string, string] {
  const cuts: number[] = [];
  let open = false;
  for (let at = 0; at < text.length && cuts.length < 2; at += 1) {
    const character = text[at];
    if (character === '{') open = true;
    else if (character === '}') open = false;
    else if (character === ':') {
      if (open)
        throw badCapability(
          `The alternatives in '${text}' reach across ':'.`,
          'Alternatives stay within one part; write one rule for each.',
        );
      cuts.push(at);
    }
  }
  const [first, second] = cuts;
  if (first === undefined || second === undefined) {
    throw badCapability(
      `The pattern '${text}' has fewer than three parts.`,
      "Write <upstream>:<action>:<resource>; '*' stands for a whole part, e.g. github:*:*.",
    );
  }
  return [text.slice(0, first), text.slice(first + 1, second), text.slice(second + 1)];
}

/** `a{b,c}d` → `abd`, `acd`. */
function alternatives(part: string): readonly string[] {
  if (part.includes('**'))
    throw badCapability(`'${part}' has two stars in a row.`, "One '*' already matches any run, '/' and ':' included.");
  let spelled = [''];
  for (const [literal, inside] of pieces(part)) {
    const choices = inside === undefined ? [''] : choicesOf(inside);
    spelled = spelled.flatMap((head) => choices.map((choice) => head + literal + choice));
    if (spelled.length > maxAlternatives) {
      throw badCapability(`'${part}' spells out more than ${maxAlternatives} alternatives.`, 'Split the rule into several.');
    }
  }
  const doubled = spelled.find((alternative) => alternative.includes('**'));
  if (doubled !== undefined) throw badCapability(`'${part}' spells '${doubled}', two stars in a row.`, 'Write one `*`.');
  return spelled;
}

/** Literal text with the inside of the braces that follow it; the last piece has none. */
function* pieces(part: string): Generator<readonly [string, string | undefined]> {
  let at = 0;
  for (;;) {
    const open = part.indexOf('{', at);
    const literal = part.slice(at, open < 0 ? undefined : open);
    if (literal.includes('}'))
      throw badCapability(`'${part}' closes a brace that was never opened.`, 'Write alternatives as {a,b}.');
    if (open < 0) {
      yield [literal, undefined];
      return;
    }
    const close = part.indexOf('}', open);
    if (close < 0) throw badCapability(`'${part}' opens a brace and never closes it.`, 'Write alternatives as {a,b}.');
    const inside = part.slice(open + 1, close);
    if (inside.includes('{')) throw badCapability(`'${part}' nests alternatives.`, 'Write them side by side: {a,b,c}.');
    yield [literal, inside];
    at = close + 1;
  }
}

function choicesOf(inside: string): readonly string[] {
  const choices = inside.split(',');
  if (choices.length < 2) throw badCapability(`{${inside}} offers one alternative only.`, 'Remove the braces, or write {a,b}.');
  if (choices.includes('')) throw badCapability(`{${inside}} has an empty alternative.`, 'Write each alternative out.');
  return choices;
}
