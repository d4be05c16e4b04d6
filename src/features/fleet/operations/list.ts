// fleet.list: every upstream of sallyport.yaml and how it is right now, in the words of its own state machine.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import type { FleetOperationDeps } from '../operation-deps.ts';

const input = z.strictObject({});

const output = z.array(
  z.strictObject({
    name: z.string(),
    state: z.enum(['stopped', 'starting', 'ready', 'backoff', 'disabled', 'unaccepted', 'invalid']),
    pid: z.int().optional(),
    tools: z.int(),
    quarantined: z.int(),
    restarts: z.int(),
    circuit: z.enum(['closed', 'open', 'half_open']).optional(),
    command: z.string().optional(),
    error: z.string().optional(),
    stderr: z.string().optional(),
  }),
);

export function listOperation({ fleet }: FleetOperationDeps) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'fleet.list',
    summary: 'List the upstreams, their state and what went wrong.',
    input,
    output,
    effect: 'look',
    access: 'local',
    command: { words: 'upstream ls' },
    run: async () => [...fleet.status()],
  });
}
