// fleet.health: the same probe with the circuit, to decide whether to retry (gate contract, scopegate_upstream_health).
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import { healthFor } from '../agent-health.ts';
import type { FleetOperationDeps } from '../operation-deps.ts';

const input = z.strictObject({});

const output = z.strictObject({
  agentId: z.string(),
  upstreams: z.record(
    z.string(),
    z.strictObject({
      ok: z.boolean(),
      tools: z.int().optional(),
      error: z.string().optional(),
      mode: z.string(),
      circuit: z.strictObject({ state: z.enum(['closed', 'open', 'half_open']), failures: z.int() }),
    }),
  ),
});

export function healthOperation(deps: FleetOperationDeps) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'fleet.health',
    summary: 'Health of every upstream you can reach, with the state of its circuit breaker.',
    description:
      'Use it before you decide to retry. `circuit.state` is `closed` (healthy), `open` (calls fail at once: five failures in a row, for ' +
      '30 s) or `half_open` (a single call is deciding). The other fields are those of scopegate_diagnose.',
    input,
    output,
    effect: 'look',
    access: 'agent',
    tool: { toolset: 'gate', name: 'scopegate_upstream_health', annotations: { readOnlyHint: true, openWorldHint: true } },
    async run(_input, context) {
      const health = await healthFor(deps, context);
      const upstreams = Object.fromEntries(
        health.map(([name, { state: _state, oauth: _oauth, actionRequired: _action, ...shown }]) => [name, shown]),
      );
      return { agentId: context.caller.kind === 'agent' ? context.caller.agent : context.caller.kind, upstreams };
    },
  });
}
