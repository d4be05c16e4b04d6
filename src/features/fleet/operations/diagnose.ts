// fleet.diagnose: the page's first thing to call on any connection error (gate contract, scopegate_diagnose). Never rejects.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import { healthFor } from '../agent-health.ts';
import type { FleetOperationDeps } from '../operation-deps.ts';

const input = z.strictObject({});

const output = z.strictObject({
  upstreams: z.record(
    z.string(),
    z.strictObject({ ok: z.boolean(), tools: z.int().optional(), error: z.string().optional(), mode: z.string() }),
  ),
});

export function diagnoseOperation(deps: FleetOperationDeps) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'fleet.diagnose',
    summary: 'Health-check every upstream you can reach: a live probe of at most 10 s, and the number of its tools.',
    description:
      'Call it first on any connection error. Per upstream: `ok` with `tools` (their count), or `ok: false` with `error`; `mode` says where ' +
      'its credentials come from (`none`: it has none of the gateway’s). Takes no arguments and never fails. An upstream that is down is ' +
      'started again if its retry time has come.',
    input,
    output,
    effect: 'look',
    access: 'agent',
    tool: { toolset: 'gate', name: 'scopegate_diagnose', annotations: { readOnlyHint: true, openWorldHint: true } },
    async run(_input, context) {
      const health = await healthFor(deps, context);
      return {
        upstreams: Object.fromEntries(health.map(([name, { state: _state, circuit: _circuit, ...shown }]) => [name, shown])),
      };
    },
  });
}
