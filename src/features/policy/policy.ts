// The face of the policy slice: what an agent may do, decided from the text in force. Pure decisions, memoised per version.
import { AppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Unsubscribe } from '../../kernel/ports.ts';
import { createCustody, type AlsoCommitted, type CustodyDeps } from './custody.ts';
import { digestOf, emptyDigest } from './digest.ts';
import { noLimits, type Finding } from './document.ts';
import { parsePolicy } from './file.ts';
import { limitsOf } from './limits.ts';
import type { Limits, PolicyDigest, PolicyRequest, Verdict } from './model.ts';
import { hashOf } from './policy-file.ts';
import { openingOf, type Standing } from './standing.ts';
import { starterPolicy } from './starter.ts';

export { policyMigrations, policyRights } from './store.ts';
export type { PolicyDigest } from './model.ts';
export type { Proposals } from './proposals/proposal.ts';

export interface Policy {
  /** Hex SHA-256 of the text in force: what decisions are bound to. That of the empty text while everything is denied. */
  version(): string;
  decide(request: PolicyRequest): Verdict;
  limits(agent: string): Limits;
  /** contracts/gate.txt, scopegate_policy_summary. */
  digest(agent: string): PolicyDigest;
  /** Calls back after another text came into force, or everything came to be denied or back. */
  onChanged(listener: () => void): Unsubscribe;
  close(): void;
}

export type FirstAdoption =
  /** `starter`: there was no file, so one was written. */
  | { readonly adopted: true; readonly version: string; readonly starter: boolean }
  /** The file has errors: everything stays denied until it is repaired and adopted. */
  | { readonly adopted: false; readonly findings: readonly Finding[] };

export interface PolicyAdmin {
  standing(): Standing;
  /** The text of policies.yaml now. Throws `policy.missing` and `policy.invalid` (kind unavailable) when there is none to read. */
  readFile(): Promise<{ readonly text: string; readonly version: string }>;
  /** Once, when the operator is created: adopts the file, or a starter policy when there is no file. Later calls change nothing. */
  adoptFirst(): Promise<FirstAdoption>;
  /** Puts a text in force that the operator signed. `proof` goes on the record. Throws `policy.invalid`. */
  adopt(text: string, proof: JsonObject): Promise<{ readonly version: string }>;
  /** The same in place of one certain text, whose file is rewritten; further rows change in that commit. Throws like `Custody.supersede`. */
  supersede(from: string, text: string, proof: JsonObject, also: AlsoCommitted): Promise<{ readonly version: string }>;
}

export async function createPolicy(deps: CustodyDeps): Promise<Policy & PolicyAdmin> {
  const { files, path, digest, audit, log } = deps;
  const custody = await createCustody(deps);
  const nothing = hashOf(digest, '');
  const standardLimits = limitsOf({ sections: [], limits: noLimits }, []);
  const opening = () => openingOf(custody.standing());

  return {
    version() {
      const state = opening();
      return state.open ? state.adopted.version : nothing;
    },
    decide(request) {
      const state = opening();
      if (state.open) return state.adopted.engine.decide(request);
      return { effect: 'deny', code: state.code, hard: false, reason: state.reason };
    },
    limits(agent) {
      const state = opening();
      return state.open ? state.adopted.engine.agent(agent).limits : standardLimits;
    },
    digest(agent) {
      const state = opening();
      return state.open ? digestOf(state.adopted.engine.agent(agent)) : emptyDigest(agent, standardLimits);
    },
    onChanged: (listener) => custody.onChanged(listener),
    close: () => custody.close(),

    standing: () => custody.standing(),
    async readFile() {
      const found = await custody.read();
      if (found.kind === 'text') return { text: found.text, version: hashOf(digest, found.text) };
      const hint = 'Restore the file from a backup, or write a new one.';
      if (found.kind === 'missing')
        throw new AppError('not_found', 'policy.missing', `There is no policy file at ${path}.`, { hint });
      throw new AppError('unavailable', 'policy.invalid', `The policy file ${path} cannot be read: ${found.reason}.`, { hint });
    },
    async adoptFirst() {
      const { ground } = custody.standing();
      if (ground.kind === 'adopted') return { adopted: true, version: ground.adopted.version, starter: false };
      if (ground.kind === 'locked')
        return { adopted: false, findings: [{ line: 1, column: 1, message: `The policy in force is locked: ${ground.reason}` }] };
      const found = await custody.read();
      const starter = found.kind === 'missing';
      if (starter) await files.writeAtomic(path, starterPolicy);
      const parsed = found.kind === 'unreadable' ? unreadable(found.reason) : parsePolicy(starter ? starterPolicy : found.text);
      if (!parsed.ok) {
        audit.appendQuietly({
          event: 'policy.refused',
          actor: 'operator',
          facts: { reason: 'invalid', changes: parsed.findings.length },
        });
        log.warn('the policy file has errors, everything is denied; run: sallyport policies check, then: sallyport policies adopt');
        return { adopted: false, findings: parsed.findings };
      }
      const { version } = await custody.adopt(found.kind === 'text' ? found.text : starterPolicy, 'first', {
        actor: 'operator',
        facts: { starter },
      });
      return { adopted: true, version, starter };
    },
    async adopt(text, proof) {
      const parsed = parsePolicy(text);
      if (!parsed.ok) throw invalidPolicy(parsed.findings);
      return custody.adopt(text, 'signed', { actor: 'operator', facts: { proof } });
    },
    async supersede(from, text, proof, also) {
      const parsed = parsePolicy(text);
      if (!parsed.ok) throw invalidPolicy(parsed.findings);
      return custody.supersede(from, text, { actor: 'operator', facts: { proof } }, also);
    },
  };
}

const unreadable = (reason: string) => ({
  ok: false as const,
  findings: [{ line: 1, column: 1, message: `The file cannot be read: ${reason}.` }],
});

/** `policy.invalid`: the first finding in the message, all of them in `data`. */
export function invalidPolicy(findings: readonly Finding[]): AppError {
  const [first] = findings;
  const more = findings.length > 1 ? ` (and ${findings.length - 1} more)` : '';
  return new AppError(
    'invalid',
    'policy.invalid',
    `policies.yaml, line ${first?.line ?? 1}: ${first?.message ?? 'invalid'}${more}`,
    {
      hint: first?.hint ?? 'Run: sallyport policies check',
      data: { findings },
    },
  );
}
