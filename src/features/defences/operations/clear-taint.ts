// taint clear: an agent may write again without being asked each time; that widens, so it is signed.
import { z } from 'zod';
import { actorOf } from '../../../kernel/caller.ts';
import { AppError } from '../../../kernel/errors.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import type { Taint } from '../taint.ts';

const input = z.strictObject({ agent: z.string().min(1).max(64) });
const output = z.strictObject({ cleared: z.string() });

export function clearTaintOperation({ taint }: { readonly taint: Taint }) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'defences.clear-taint',
    summary: 'Trust an agent again that read something suspicious.',
    input,
    output,
    effect: 'change',
    access: 'operator',
    command: { words: 'taint clear', positionals: ['agent'] },
    async shown({ agent }) {
      const marks = taint.marks().filter((mark) => mark.agent === agent);
      if (marks.length === 0) throw new AppError('not_found', 'defences.not_tainted', `The agent '${agent}' is not tainted.`);
      return { read_from: marks.map(({ upstream, pattern }) => ({ upstream, pattern })) };
    },
    async run({ agent }, { caller, proofFacts }) {
      await taint.clear(agent, actorOf(caller), proofFacts);
      return { cleared: agent };
    },
  });
}
