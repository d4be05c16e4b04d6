// YAML as a policy may use it: maps, lists and plain values, every one with its place. Refuses what makes a text mean something other
// than what it shows (aliases, tags, merge keys, duplicate keys, invisible characters). Knows no key of the policy format.
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, visit, type ParsedNode } from 'yaml';
import { AppError } from '../../kernel/errors.ts';
import { closest } from '../../lib/closest.ts';
import { printable } from '../../lib/printable.ts';
import type { Finding, Place } from './document.ts';

export const maxBytes = 262_144;

export type YamlNode = ParsedNode | null;

export interface YamlText {
  readonly root: YamlNode;
  readonly findings: Finding[];
  place(node: YamlNode): Place;
  fail(at: YamlNode | Place, message: string, hint?: string): undefined;
  /** Members of a map by key; unknown keys are findings with a suggestion. `undefined` (and a finding) when it is no map. */
  map(node: YamlNode, what: string, known: readonly string[] | 'any'): ReadonlyMap<string, Member> | undefined;
  list(node: YamlNode, what: string): readonly YamlNode[] | undefined;
  text(node: YamlNode, what: string): string | undefined;
  /** A value that is no map and no list. */
  scalar(node: YamlNode): unknown;
}

export interface Member {
  readonly key: Place;
  readonly value: YamlNode;
}

// Line feeds and tabs apart: controls, and marks that reorder what a person reads before signing it.
const disturbing = /(?![\n\t\r])\p{Cc}|[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069]/u;

const kindOf = (node: YamlNode): string => {
  if (isMap(node)) return 'a map';
  if (isSeq(node)) return 'a list';
  const value: unknown = isScalar(node) ? node.value : null;
  return value === null ? 'nothing' : `the ${typeof value} ${printable(JSON.stringify(value)).slice(0, 60)}`;
};

export function readYaml(text: string): YamlText {
  const findings: Finding[] = [];
  const lines = new LineCounter();
  let root: YamlNode = null;

  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const place = (node: YamlNode): Place => placeAt(node?.range[0] ?? 0);
  const fail = (at: YamlNode | Place, message: string, hint?: string): undefined => {
    const where = at !== null && 'line' in at ? at : place(at);
    findings.push({ line: where.line, column: where.column, message, ...(hint === undefined ? {} : { hint }) });
  };

  if (text.length > maxBytes)
    fail({ line: 1, column: 1 }, `The file is larger than ${maxBytes} bytes.`, 'Use patterns instead of long lists.');
  else open();

  function open(): void {
    const hidden = disturbing.exec(text);
    if (hidden !== null) {
      const before = text.slice(0, hidden.index).split('\n');
      const code = (hidden[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      fail(
        { line: before.length, column: (before.at(-1) ?? '').length + 1 },
        `The file holds the invisible character U+${code}.`,
        'Delete it: what a person signs must be what a person sees.',
      );
      return;
    }
    try {
      const parsed = parseDocument(text, {
        version: '1.2',
        schema: 'core',
        uniqueKeys: true,
        merge: false,
        lineCounter: lines,
        prettyErrors: false,
      });
      for (const error of [...parsed.errors, ...parsed.warnings])
        fail(placeAt(error.pos[0]), yamlMessage(error.code, error.message));
      if (findings.length > 0) return;
      visit(parsed, {
        Node(_key, node) {
          const at = placeAt(node.range?.[0] ?? 0);
          if (isAlias(node) || node.anchor !== undefined)
            fail(at, 'Anchors and aliases are not allowed.', 'Write the value out where it is used.');
          else if (node.tag !== undefined) fail(at, 'Tags are not allowed.', 'Write the plain value.');
        },
      });
      if (findings.length === 0) root = parsed.contents;
    } catch (thrown) {
      if (!(thrown instanceof RangeError)) throw thrown;
      fail({ line: 1, column: 1 }, 'The file is nested too deeply.', 'A policy has at most six levels.');
    }
  }

  return {
    root,
    findings,
    place,
    fail,
    map(node, what, known) {
      if (!isMap(node)) return fail(node, `${what} must be a map, not ${kindOf(node)}.`);
      const members = new Map<string, Member>();
      for (const pair of node.items) {
        const { key, value } = pair as { key: YamlNode; value: YamlNode };
        const name = isScalar(key) && typeof key.value === 'string' ? key.value : undefined;
        if (name === undefined) fail(key, `A key of ${what} is not text.`, 'Put it in quotes.');
        else if (known !== 'any' && !known.includes(name)) {
          const near = closest(name.toLowerCase().replaceAll('-', '_'), known);
          fail(
            key,
            `Unknown key '${printable(name)}' in ${what}.`,
            near === undefined ? `Known keys: ${known.join(', ')}.` : `Did you mean '${near}'?`,
          );
        } else members.set(name, { key: place(key), value: value ?? null });
      }
      return members;
    },
    list(node, what) {
      if (!isSeq(node)) return fail(node, `${what} must be a list, not ${kindOf(node)}.`);
      return node.items;
    },
    text(node, what) {
      if (isScalar(node) && typeof node.value === 'string') return node.value;
      return fail(
        node,
        `${what} must be text, not ${kindOf(node)}.`,
        isScalar(node) ? 'Put it in quotes if it is meant as text.' : undefined,
      );
    },
    scalar: (node) => (isScalar(node) ? node.value : undefined),
  };
}

const yamlMessage = (code: string, message: string): string => {
  if (code === 'DUPLICATE_KEY') return 'This key is here twice; only one can count.';
  if (code === 'MULTIPLE_DOCS') return 'The file holds more than one YAML document.';
  return `Not valid YAML: ${message.split('\n')[0] ?? code}`;
};

/** The value, or a finding at the node when the text of it is refused. */
export function attempt<T>(yaml: YamlText, node: YamlNode, parse: () => T): T | undefined {
  try {
    return parse();
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    return yaml.fail(node, thrown.message, thrown.hint);
  }
}
