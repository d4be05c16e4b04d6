// policies.yaml, version 1: text in, sections and rules out, or everything that is wrong with it, each with line and column.
// Nothing is guessed and nothing unknown is skipped: a typo in a policy must never turn into a permission.
import type { Deny, Finding, PolicyFile, Section, StatedLimits } from './document.ts';
import { noLimits } from './document.ts';
import { inheriting, type Heir } from './inheritance.ts';
import { parsePattern } from './pattern.ts';
import { readRule } from './rule-text.ts';
import { parseRate, parseTtl } from './ttl.ts';
import { wildcard } from './wildcard.ts';
import { attempt, readYaml, type Member, type YamlNode, type YamlText } from './yaml-text.ts';

export type ParsedPolicy =
  | { readonly ok: true; readonly file: PolicyFile }
  /** In the order of the text, at least one. */
  | { readonly ok: false; readonly findings: readonly Finding[] };

const limitKeys = ['max_ttl', 'deny', 'rate_limit', 'approval_ttl', 'max_lease_total', 'max_inline_bytes'] as const;
/** Rules are compared with each other when a policy is checked. */
const maxEntries = 2_000;
const agentId = /^(?:\*|[a-z0-9*][a-z0-9_.*-]{0,63})$/;

export function parsePolicy(text: string): ParsedPolicy {
  const yaml = readYaml(text);
  const file = yaml.findings.length === 0 ? readFile(yaml) : undefined;
  if (file !== undefined && yaml.findings.length === 0) return { ok: true, file };
  return { ok: false, findings: yaml.findings.toSorted((one, other) => one.line - other.line || one.column - other.column) };
}

function readFile(yaml: YamlText): PolicyFile | undefined {
  if (yaml.root === null) return yaml.fail(null, 'The file is empty.', "Begin with 'version: 1' and 'agents:'.");
  const top = yaml.map(yaml.root, 'the policy', ['version', 'agents', 'limits']);
  if (top === undefined) return undefined;
  const version = top.get('version');
  if (yaml.scalar(version?.value ?? null) !== 1) {
    yaml.fail(version?.value ?? { line: 1, column: 1 }, 'The version must be 1.', "Write 'version: 1'.");
  }
  const agents = top.get('agents');
  if (agents === undefined)
    return yaml.fail({ line: 1, column: 1 }, "The key 'agents' is missing.", "Add 'agents:' with a section for each agent.");
  const heirs: Heir[] = [];
  for (const [id, member] of yaml.map(agents.value, "'agents'", 'any') ?? []) {
    const heir = readSection(yaml, id, member);
    if (heir !== undefined) heirs.push(heir);
  }
  const limits = readLimits(yaml, top.get('limits'), 'the global limits');
  const entries =
    limits.deny.length + heirs.reduce((sum, { section }) => sum + section.rules.length + section.limits.deny.length, 0);
  if (entries > maxEntries)
    yaml.fail(agents.key, `The policy has ${entries} rules and denies, more than ${maxEntries}.`, 'Use patterns.');
  return { sections: inheriting(yaml, heirs), limits };
}

function readSection(yaml: YamlText, id: string, { key, value }: Member): Heir | undefined {
  if (!agentId.test(id) || id.includes('**')) {
    return yaml.fail(
      key,
      `'${id}' is no agent name and no pattern of names.`,
      "Names are a-z, 0-9, '_', '.' and '-'; '*' stands for any run.",
    );
  }
  const what = `section '${id}'`;
  const members = yaml.map(value, what, ['inherit', 'default_ttl', 'limits', 'capabilities']);
  if (members === undefined) return undefined;
  const listed = members.get('capabilities');
  const items = listed === undefined ? [] : (yaml.list(listed.value, `'capabilities' of ${what}`) ?? []);
  const section: Section = {
    id,
    agents: wildcard(id),
    defaultTtlMs: read(yaml, members.get('default_ttl'), `'default_ttl' of ${what}`, parseTtl),
    limits: readLimits(yaml, members.get('limits'), `the limits of ${what}`),
    rules: items.flatMap((item) => readRule(yaml, item) ?? []),
    inherit: undefined,
    place: key,
  };
  const inherit = members.get('inherit');
  const from = inherit && yaml.text(inherit.value, `'inherit' of ${what}`);
  return from === undefined ? { section } : { section, from, at: yaml.place(inherit?.value ?? null) };
}

function readLimits(yaml: YamlText, member: Member | undefined, what: string): StatedLimits {
  if (member === undefined) return noLimits;
  const stated = yaml.map(member.value, what, limitKeys);
  if (stated === undefined) return noLimits;
  const denied = stated.get('deny');
  return {
    maxTtlMs: read(yaml, stated.get('max_ttl'), `'max_ttl' in ${what}`, parseTtl),
    deny:
      denied === undefined
        ? []
        : (yaml.list(denied.value, `'deny' in ${what}`) ?? []).flatMap((item) => readDeny(yaml, item) ?? []),
    rate: read(yaml, stated.get('rate_limit'), `'rate_limit' in ${what}`, parseRate),
    approvalTtlMs: read(yaml, stated.get('approval_ttl'), `'approval_ttl' in ${what}`, parseTtl),
    maxLeaseTotalMs: read(yaml, stated.get('max_lease_total'), `'max_lease_total' in ${what}`, parseTtl),
    maxInlineBytes: readBytes(yaml, stated.get('max_inline_bytes')),
    places: new Map([...stated].map(([key, { key: place }]) => [key, place])),
  };
}

function readDeny(yaml: YamlText, node: YamlNode): Deny | undefined {
  const text = yaml.text(node, "An entry of 'deny'");
  const pattern = text === undefined ? undefined : attempt(yaml, node, () => parsePattern(text));
  return pattern && { pattern, place: yaml.place(node) };
}

function readBytes(yaml: YamlText, member: Member | undefined): number | undefined {
  if (member === undefined) return undefined;
  const value = yaml.scalar(member.value);
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 256) return value;
  return yaml.fail(member.value, "'max_inline_bytes' must be a whole number of at least 256.");
}

function read<T>(yaml: YamlText, member: Member | undefined, what: string, parse: (text: string) => T): T | undefined {
  if (member === undefined) return undefined;
  const text = yaml.text(member.value, what);
  return text === undefined ? undefined : attempt(yaml, member.value, () => parse(text));
}
