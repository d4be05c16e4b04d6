// fleet.retry: tries an upstream now that was left alone, because it needed a login or because its retry time had not come.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import { printable, printableLines } from '../../../lib/printable.ts';
import type { FleetOperationDeps } from '../operation-deps.ts';

const input = z.strictObject({ name: z.string().describe('An upstream of sallyport.yaml.') });
const output = z.strictObject({
  upstream: z.string(),
  ok: z.boolean(),
  state: z.string(),
  tools: z.int().optional(),
  error: z.string().optional(),
  stderr: z.string().optional(),
});
type Output = z.infer<typeof output>;

function draw({ upstream, ok, tools, error, stderr }: Output): string {
  if (ok) return `${printable(upstream)} runs, with ${tools ?? 0} tools.`;
  const said = stderr === undefined ? '' : `\n  | ${printableLines(stderr)}`;
  return `${printable(upstream)} does not run: ${printable(error ?? '')}${said}`;
}

export function retryOperation({ fleet }: FleetOperationDeps) {
  return defineOperation<z.infer<typeof input>, Output>({
    name: 'fleet.retry',
    summary: 'Try an upstream again now that was left alone after failures or for want of a login.',
    input,
    output,
    effect: 'change',
    access: 'local',
    command: { words: 'upstream retry', positionals: ['name'], draw },
    async run({ name }) {
      const { ok, state, tools, error, stderr } = await fleet.retry(name);
      return {
        upstream: name,
        ok,
        state,
        ...(tools === undefined ? {} : { tools }),
        ...(error === undefined ? {} : { error }),
        ...(stderr === undefined ? {} : { stderr }),
      };
    },
  });
}
