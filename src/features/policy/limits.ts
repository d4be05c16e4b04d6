// Limits of one agent: the tightest of the global ones and those of every matching section. Nothing replaces anything.
import type { PolicyFile, Section, StatedLimits } from './document.ts';
import type { Limits } from './model.ts';
import { lowerRate, parseRate, parseTtl } from './ttl.ts';

/** What holds where no limit is stated (gate contract). */
export const defaults = {
  ttlMs: parseTtl('15m'),
  rate: parseRate('30/m'),
  approvalTtlMs: parseTtl('10m'),
  maxLeaseTotalMs: parseTtl('4h'),
  maxInlineBytes: 16_384,
} as const;

export function limitsOf(file: PolicyFile, sections: readonly Section[]): Limits {
  const stated = [file.limits, ...sections.map(({ limits }) => limits)];
  const least = (pick: (limits: StatedLimits) => number | undefined): number | undefined => {
    const values = stated.flatMap((limits) => pick(limits) ?? []);
    return values.length === 0 ? undefined : Math.min(...values);
  };
  const rates = stated.flatMap(({ rate }) => rate ?? []);
  return {
    maxTtlMs: least(({ maxTtlMs }) => maxTtlMs),
    deny: [...new Set(stated.flatMap(({ deny }) => deny.map(({ pattern }) => pattern.text)))],
    rate: rates.length === 0 ? defaults.rate : rates.reduce(lowerRate),
    approvalTtlMs: least(({ approvalTtlMs }) => approvalTtlMs) ?? defaults.approvalTtlMs,
    maxLeaseTotalMs: least(({ maxLeaseTotalMs }) => maxLeaseTotalMs) ?? defaults.maxLeaseTotalMs,
    maxInlineBytes: least(({ maxInlineBytes }) => maxInlineBytes) ?? defaults.maxInlineBytes,
  };
}
