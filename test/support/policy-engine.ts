// Policies as short texts, and questions to them, for suites of the policy slice.
import { createEngine, type Engine } from '../../src/features/policy/decide.ts';
import type { PolicyFile } from '../../src/features/policy/document.ts';
import { parsePolicy } from '../../src/features/policy/file.ts';
import type { PolicyRequest, Verdict } from '../../src/features/policy/model.ts';

export function policyFile(text: string): PolicyFile {
  const parsed = parsePolicy(text);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.findings));
  return parsed.file;
}

export function engineOf(text: string): Engine {
  return createEngine(policyFile(text));
}

/** One section for everybody; the rules stand in lines 5, 6, 7 … */
export function rulesText(...rules: readonly string[]): string {
  return `version: 1\nagents:\n  '*':\n    capabilities:\n${rules.map((rule) => `      - { ${rule} }`).join('\n')}\n`;
}

export function rulesEngine(...rules: readonly string[]): Engine {
  return engineOf(rulesText(...rules));
}

/** Asks as agent `kimi`. */
export function ask(engine: Engine, capability: string, more: Partial<PolicyRequest> = {}): Verdict {
  return engine.decide({ agent: 'kimi', capability, ...more });
}
