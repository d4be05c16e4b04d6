// policy.check: what is wrong with a policy text, what is odd about it, and whether the file on disk is the policy in force.
import { z } from 'zod';
import { AppError } from '../../../kernel/errors.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import type { Files } from '../../../kernel/ports.ts';
import { printable } from '../../../lib/printable.ts';
import { parsePolicy } from '../file.ts';
import { lint } from '../lint.ts';
import { readPolicyFile } from '../policy-file.ts';
import type { PolicyAdmin } from '../policy.ts';
import type { Standing } from '../standing.ts';

export interface CheckDeps {
  readonly policy: PolicyAdmin;
  readonly files: Files;
  /** policies.yaml of the home. */
  readonly path: string;
  /** Names of the agents there are. */
  readonly agentNames: () => readonly string[];
}

const input = z.strictObject({
  file: z
    .string()
    .min(1)
    .max(4_096)
    .optional()
    .describe('Another file to check, as an absolute path; without it the policy of this home.'),
});

const output = z.strictObject({
  ok: z.boolean().describe('False when the text has errors or the policy of this home is not in force.'),
  file: z.string(),
  state: z
    .enum(['in_force', 'waiting', 'invalid', 'missing', 'unreadable', 'none', 'locked', 'other_file'])
    .describe('How the file stands to the policy in force.'),
  next_step: z.string().optional(),
  wider: z.array(z.string()).optional().describe('What the file would permit beyond the policy in force.'),
  findings: z.array(
    z.strictObject({
      severity: z.enum(['error', 'warning', 'note']),
      line: z.number(),
      column: z.number(),
      message: z.string(),
      hint: z.string().optional(),
    }),
  ),
});

type Output = z.infer<typeof output>;

export function checkOperation({ policy, files, path, agentNames }: CheckDeps) {
  return defineOperation<z.infer<typeof input>, Output>({
    name: 'policy.check',
    summary: 'Check the policy file for errors, rules that never decide and contradictions.',
    input,
    output,
    effect: 'look',
    access: 'local',
    command: { words: 'policies check', positionals: ['file'], draw },
    async run({ file: other }) {
      if (other !== undefined && !other.startsWith('/')) {
        throw new AppError('invalid', 'policy.invalid', `'${printable(other)}' is not an absolute path.`, {
          hint: 'Give the whole path, e.g. "$PWD/policies.yaml".',
        });
      }
      const file = other ?? path;
      const stands = other === undefined ? standingFacts(policy.standing()) : { state: 'other_file' as const, ok: true };
      const found = await readPolicyFile(files, file);
      if (found.kind !== 'text') {
        if (other === undefined) return { ...stands, ok: false, file, findings: [] };
        const why = found.kind === 'missing' ? 'it does not exist' : found.reason;
        throw new AppError('not_found', 'policy.missing', `${printable(file)} cannot be checked: ${why}.`);
      }
      const parsed = parsePolicy(found.text);
      const findings: Output['findings'] = parsed.ok
        ? lint(parsed.file, agentNames()).map((remark) => ({ ...remark }))
        : parsed.findings.map((error) => ({ severity: 'error' as const, ...error }));
      return { ...stands, ok: stands.ok && parsed.ok, file, findings };
    },
  });
}

function standingFacts({ ground, disk, hasOperator }: Standing): Pick<Output, 'ok' | 'state' | 'next_step' | 'wider'> {
  const adopt = 'Adopt it: sallyport policies adopt';
  if (ground.kind === 'none')
    return {
      ok: false,
      state: 'none',
      next_step: hasOperator
        ? 'No policy was ever adopted, so everything is denied. Correct the file, then run: sallyport policies adopt'
        : 'Create the operator; the file is adopted with it. Until then everything is denied.',
    };
  if (ground.kind === 'locked')
    return { ok: false, state: 'locked', next_step: `The policy in force is locked: ${ground.reason} ${adopt}` };
  if (disk.state === 'in_force') return { ok: true, state: 'in_force' };
  const next: Record<Exclude<Standing['disk']['state'], 'in_force'>, string> = {
    waiting: `The last good policy stays in force. ${adopt}`,
    invalid: 'The last good policy stays in force. Correct the errors.',
    missing: 'Everything is denied. Restore the file.',
    unreadable: `Everything is denied: the file cannot be read${disk.state === 'unreadable' ? ` (${disk.reason})` : ''}. Repair it.`,
  };
  return {
    ok: false,
    state: disk.state,
    next_step: next[disk.state],
    ...(disk.state === 'waiting' ? { wider: [...disk.changes] } : {}),
  };
}

function draw({ file, state, next_step, wider, findings }: Output): string {
  const lines = findings.map(({ severity, line, column, message, hint }) =>
    [`${line}:${column}`.padEnd(8), severity.padEnd(8), message, ...(hint === undefined ? [] : [`(${hint})`])].join(' '),
  );
  return [
    state === 'other_file' ? file : `${file}: ${state.replace('_', ' ')}`,
    ...(next_step === undefined ? [] : [next_step]),
    ...(wider ?? []).map((line) => `  wider: ${line}`),
    ...(lines.length === 0 ? ['Nothing to remark.'] : lines),
  ].join('\n');
}
