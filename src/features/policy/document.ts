// What a policy file says once it was read: sections, rules, limits, each with its place in the text. Decides nothing.
import type { ToolAnnotations } from '../../kernel/operation.ts';
import type { Pattern } from './capability.ts';
import type { Guard, RedactCategory } from './model.ts';
import type { Rate } from './ttl.ts';
import type { Wildcard } from './wildcard.ts';

/** Both counted from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

export type Effect = 'allow' | 'ask' | 'deny';

export const hintNames = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;
export type HintName = (typeof hintNames)[number];

/** Hints the accepted definition of a tool must have. */
export type HintCondition = Readonly<Partial<Record<HintName, boolean>>>;

export interface Rule {
  readonly pattern: Pattern;
  readonly effect: Effect;
  /** Its own ceiling, when it states one. */
  readonly ttlMs: number | undefined;
  readonly redact: readonly RedactCategory[];
  /** `undefined` = applies whatever the arguments are. */
  readonly guard: Guard | undefined;
  /** `undefined` = applies whatever the tool says about itself. */
  readonly hints: HintCondition | undefined;
  readonly place: Place;
}

export interface Deny {
  readonly pattern: Pattern;
  readonly place: Place;
}

/** Only what the text states; defaults are for whoever reads it. */
export interface StatedLimits {
  readonly maxTtlMs: number | undefined;
  readonly deny: readonly Deny[];
  readonly rate: Rate | undefined;
  readonly approvalTtlMs: number | undefined;
  readonly maxLeaseTotalMs: number | undefined;
  readonly maxInlineBytes: number | undefined;
  /** Where each stated key stands. */
  readonly places: ReadonlyMap<string, Place>;
}

export interface Section {
  /** An agent's name, a glob of names, or `*`. */
  readonly id: string;
  readonly agents: Wildcard;
  /** Its own, or the one it inherits. */
  readonly defaultTtlMs: number | undefined;
  readonly limits: StatedLimits;
  /** What decides for its agents, in order: its own rules, then those it inherits. */
  readonly rules: readonly Rule[];
  readonly inherit: Inheritance | undefined;
  readonly place: Place;
}

/** What a section takes over from another one that is about all its agents too. */
export interface Inheritance {
  readonly section: string;
  /** How many at the end of the section's rules came with it. */
  readonly rules: number;
  /** Whether its default_ttl came with it. */
  readonly defaultTtl: boolean;
}

/** A section as it is written, without what it inherits. */
export function ownPart({ rules, defaultTtlMs, inherit }: Section): Pick<Section, 'rules' | 'defaultTtlMs'> {
  if (inherit === undefined) return { rules, defaultTtlMs };
  return { rules: rules.slice(0, rules.length - inherit.rules), defaultTtlMs: inherit.defaultTtl ? undefined : defaultTtlMs };
}

export interface PolicyFile {
  readonly sections: readonly Section[];
  readonly limits: StatedLimits;
}

/** Something wrong in the text, or worth a look. */
export interface Finding extends Place {
  readonly message: string;
  readonly hint?: string;
}

export const noLimits: StatedLimits = {
  maxTtlMs: undefined,
  deny: [],
  rate: undefined,
  approvalTtlMs: undefined,
  maxLeaseTotalMs: undefined,
  maxInlineBytes: undefined,
  places: new Map(),
};

/** A rule as people recognise it: its match, with its conditions in brackets when it has any. */
export function ruleText({ pattern, guard, hints }: Rule): string {
  const conditions = [
    ...Object.entries(guard ?? {}).map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
    ...Object.entries(hints ?? {}).map(([name, value]) => `${name}: ${String(value)}`),
  ];
  return conditions.length === 0 ? pattern.text : `${pattern.text} [${conditions.join(', ')}]`;
}

/** The hints that matter, absent ones read as the least harmless value; a tool that only reads destroys nothing and may be repeated. */
export function effectiveHints(annotations: ToolAnnotations): Readonly<Record<HintName, boolean>> {
  const readOnlyHint = annotations.readOnlyHint === true;
  return {
    readOnlyHint,
    destructiveHint: annotations.destructiveHint ?? !readOnlyHint,
    idempotentHint: annotations.idempotentHint ?? readOnlyHint,
    openWorldHint: annotations.openWorldHint ?? true,
  };
}
