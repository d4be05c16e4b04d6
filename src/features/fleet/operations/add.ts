// fleet.add: puts an upstream into sallyport.yaml and accepts it in one decision, then tries it. Saved whether or not it runs.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import {
  acceptanceFacts,
  acceptedAnswer,
  acceptedOutput,
  decisionOf,
  drawAccepted,
  type AcceptedOutput,
} from '../acceptance-facts.ts';
import type { UpstreamSpec } from '../model.ts';
import type { FleetOperationDeps } from '../operation-deps.ts';
import { badSpec, exists } from '../refusals.ts';
import type { Acceptable } from '../roster.ts';
import { createShownMemory } from '../shown-memory.ts';
import { parseSpec, upstreamNameHelp } from '../spec.ts';

const input = z.strictObject({
  name: z.string().describe(`The upstream's name: ${upstreamNameHelp}.`),
  run: z.array(z.string()).default([]).describe('The command and its arguments, after --.'),
  cwd: z.string().optional().describe('Working directory; the home folder unless given.').meta({ format: 'path' }),
  env: z.record(z.string(), z.string()).default({}).describe('A fixed variable of the child, KEY=VALUE. Never a secret.'),
  envPassthrough: z.array(z.string()).default([]).describe('A variable to pass on from where the daemon runs.'),
  expose: z.array(z.string()).default([]).describe('A tool to expose; all of them unless given.'),
  url: z.string().optional().describe('Not yet: HTTP upstreams come in a later version.'),
});
type Input = z.infer<typeof input>;

export function addOperation({ fleet }: FleetOperationDeps) {
  const memory = createShownMemory<Input, Acceptable>();
  return defineOperation<Input, AcceptedOutput>({
    name: 'fleet.add',
    summary: 'Add an upstream MCP server and accept it.',
    input,
    output: acceptedOutput,
    effect: 'change',
    access: 'operator',
    command: { words: 'upstream add', positionals: ['name'], rest: 'run', draw: drawAccepted },
    async shown(wanted) {
      const spec = specOf(wanted);
      await fleet.reload();
      if (fleet.status().some(({ name }) => name === spec.name)) throw exists(spec.name);
      return acceptanceFacts(memory.keep(wanted, await fleet.proposal(spec)), fleet.acceptance(spec.name));
    },
    async run(wanted, context) {
      const what = memory.recall(wanted);
      return acceptedAnswer(what, await fleet.accept(what, decisionOf(context), true));
    },
  });
}

function specOf({ name, run, cwd, env, envPassthrough, expose, url }: Input): UpstreamSpec {
  if (url !== undefined)
    throw badSpec(
      'HTTP upstreams come in a later version.',
      'Run a server over stdio: sallyport upstream add NAME -- COMMAND ARGUMENTS…',
    );
  const [command, ...args] = run;
  if (command === undefined)
    throw badSpec('The command is missing.', `Write it after --: sallyport upstream add ${name} -- COMMAND ARGUMENTS…`);
  const transport = { kind: 'stdio', command, args, ...(cwd === undefined ? {} : { cwd }) };
  const parsed = parseSpec({ name, transport, env, envPassthrough, exposeTools: expose }, 'upstream');
  if (!parsed.ok) throw badSpec(parsed.problem, 'See: sallyport upstream add --help');
  return parsed.spec;
}
