// fleet.diagnose: the page's first thing to call on any connection error (gate contract, scopegate_diagnose). Never rejects.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import { healthFor } from '../agent-health.ts';
import type { FleetOperationDeps } from '../operation-deps.ts';
import type { MemberHealth } from '../upstream-status.ts';

const input = z.strictObject({});

const oauthHealth = z.strictObject({
  state: z.enum(['ok', 'backoff', 'circuit_open', 'needs_reauth', 'unknown_expiry']),
  token_expires_in_s: z.number().nullable(),
  consecutive_failures: z.int(),
  last_refresh_at: z.string().optional(),
  next_refresh_in_s: z.number().optional(),
});

const output = z.strictObject({
  upstreams: z.record(
    z.string(),
    z.strictObject({
      ok: z.boolean(),
      tools: z.int().optional(),
      error: z.string().optional(),
      mode: z.string(),
      oauth: oauthHealth.optional(),
      action_required: z.string().optional(),
    }),
  ),
});

function shownOf({ state: _state, circuit: _circuit, actionRequired, ...shown }: MemberHealth) {
  return { ...shown, ...(actionRequired === undefined ? {} : { action_required: actionRequired }) };
}

export function diagnoseOperation(deps: FleetOperationDeps) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'fleet.diagnose',
    summary: 'Health-check every upstream you can reach: a live probe of at most 10 s, and the number of its tools.',
    description:
      'Call it first on any connection error. Per upstream: `ok` with `tools` (their count), or `ok: false` with `error`; `mode` says where ' +
      'its credentials come from (`none`: it has none of the gateway’s). `oauth` tells of a login that is refreshed; relay `action_required` ' +
      'to the human verbatim. Takes no arguments and never fails. An upstream that is down is ' +
      'started again if its retry time has come.',
    input,
    output,
    effect: 'look',
    access: 'agent',
    tool: { toolset: 'gate', name: 'scopegate_diagnose', annotations: { readOnlyHint: true, openWorldHint: true } },
    async run(_input, context) {
      const health = await healthFor(deps, context);
      return { upstreams: Object.fromEntries(health.map(([name, shown]) => [name, shownOf(shown)])) };
    },
  });
}
