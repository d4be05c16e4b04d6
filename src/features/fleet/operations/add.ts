// fleet.add: puts an upstream into sallyport.yaml and accepts it in one decision, then tries it. Saved whether or not it runs.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import { acceptedAnswer, acceptedOutput, decisionOf, drawAccepted, type AcceptedOutput } from '../acceptance-facts.ts';
import { noAuth, secretRef } from '../../auth/model.ts';
import { sharings, type UpstreamSpec } from '../model.ts';
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
  roots: z
    .array(z.string())
    .default([])
    .describe("A place, as an absolute path or file:// URI, whose part of a client's roots it is told; none unless given."),
  url: z.string().optional().describe('The endpoint of an upstream over HTTP, instead of a command.'),
  header: z
    .record(z.string(), z.string())
    .default({})
    .describe('A fixed header for an upstream over HTTP, NAME=VALUE. Never a secret.'),
  bearer: secretRef
    .optional()
    .describe('The name of a secret that is sent as Authorization: Bearer, or given to a command as <NAME>_ACCESS_TOKEN.'),
  secretHeader: z
    .record(z.string(), secretRef)
    .default({})
    .describe('The name of a secret that is sent as it is in another header, NAME=REF; one at most.'),
  envSecret: z
    .record(z.string(), secretRef)
    .default({})
    .describe('The name of a secret that a command gets in a variable, KEY=REF. Not beside --bearer.'),
  oauth: secretRef
    .optional()
    .describe(
      'The name that a login is kept under, for an upstream with accounts of its own: sallyport auth login NAME, when it is added.',
    ),
  allowInsecure: z.boolean().default(false).describe('Allow plain http to another machine.'),
  sharing: z
    .enum(sharings)
    .optional()
    .describe(
      'How many processes a command gets: one for all (shared, unless given), which then cannot ask agents back; one for each agent; or one for each session.',
    ),
  maxSessions: z
    .int()
    .optional()
    .describe('How many agent sessions (agents, with --sharing agent) may have one of their own; 64 unless given.'),
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
      return fleet.facts(memory.keep(wanted, await fleet.proposal(spec)));
    },
    async run(wanted, context) {
      const what = memory.recall(wanted);
      return acceptedAnswer(what, await fleet.accept(what, decisionOf(context), true));
    },
  });
}

/** One way to log in, from whichever flag names it. */
function authOf({
  bearer,
  secretHeader,
  envSecret,
  oauth,
}: Pick<Input, 'bearer' | 'secretHeader' | 'envSecret' | 'oauth'>): object {
  const [header, ...more] = Object.entries(secretHeader);
  const ways = [
    ...(bearer === undefined ? [] : [{ type: 'bearer', secretRef: bearer }]),
    ...(header === undefined ? [] : [{ type: 'bearer', header: header[0], secretRef: header[1] }]),
    ...(Object.keys(envSecret).length === 0 ? [] : [{ type: 'env', env: envSecret }]),
    ...(oauth === undefined ? [] : [{ type: 'oauth2', secretRef: oauth }]),
  ];
  if (ways.length > 1 || more.length > 0)
    throw badSpec(
      'An upstream is logged in to in one way: --bearer, one --secret-header, --env-secret, or --oauth.',
      'Leave out the others; several --env-secret are one way.',
    );
  return ways[0] ?? noAuth;
}

function specOf({ name, env, envPassthrough, expose, roots, sharing, maxSessions, ...wanted }: Input): UpstreamSpec {
  const more = {
    env,
    envPassthrough,
    exposeTools: expose,
    roots,
    ...(sharing === undefined ? {} : { sharing }),
    ...(maxSessions === undefined ? {} : { maxSessions }),
  };
  const parsed = parseSpec({ name, transport: transportOf(name, wanted), auth: authOf(wanted), ...more }, 'upstream');
  if (!parsed.ok) throw badSpec(parsed.problem, 'See: sallyport upstream add --help');
  return parsed.spec;
}

type Wanted = Pick<Input, 'run' | 'cwd' | 'url' | 'header' | 'allowInsecure'>;

function transportOf(name: string, { run, cwd, url, header, allowInsecure }: Wanted): object {
  const [command, ...args] = run;
  if (url !== undefined) {
    if (command !== undefined || cwd !== undefined)
      throw badSpec('An upstream is either a command or a URL, not both.', 'Leave out the command and --cwd, or leave out --url.');
    return { kind: 'http', url, headers: header, allow_insecure: allowInsecure };
  }
  if (Object.keys(header).length > 0 || allowInsecure)
    throw badSpec(
      '--header and --allow-insecure are for upstreams over HTTP.',
      `Give its --url: sallyport upstream add ${name} --url URL`,
    );
  if (command === undefined)
    throw badSpec(
      'The command is missing.',
      `Write it after --: sallyport upstream add ${name} -- COMMAND ARGUMENTS… (or give the --url of an upstream over HTTP)`,
    );
  return { kind: 'stdio', command, args, ...(cwd === undefined ? {} : { cwd }) };
}
