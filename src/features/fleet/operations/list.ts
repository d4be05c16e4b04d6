// fleet.list: every upstream of sallyport.yaml and how it is right now, in the words of its own state machine.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import { printable, printableLines } from '../../../lib/printable.ts';
import type { FleetOperationDeps } from '../operation-deps.ts';

const input = z.strictObject({});

const output = z.array(
  z.strictObject({
    name: z.string(),
    state: z.enum([
      'stopped',
      'starting',
      'ready',
      'backoff',
      'login_needed',
      'waiting_for_secrets',
      'disabled',
      'unaccepted',
      'invalid',
    ]),
    pid: z.int().optional(),
    tools: z.int(),
    quarantined: z.int(),
    unusable: z
      .array(z.strictObject({ tool: z.string(), why: z.string() }))
      .readonly()
      .optional(),
    warned: z.int().optional(),
    restarts: z.int(),
    circuit: z.enum(['closed', 'open', 'half_open']).optional(),
    kind: z.enum(['stdio', 'http']).optional(),
    sharing: z.enum(['agent', 'session']).optional(),
    command: z.string().optional(),
    origin: z.string().optional(),
    era: z.string().optional(),
    sessions: z.int().optional(),
    error: z.string().optional(),
    stderr: z.string().optional(),
  }),
);

type Output = z.infer<typeof output>;

/** Of tools that are left out; a line each. */
const mostReasons = 5;

/** A line for each, and under it what went wrong and what it said last. */
function draw(upstreams: Output): string {
  if (upstreams.length === 0) return 'No upstream yet. Add one with: sallyport upstream add NAME -- COMMAND ARGUMENTS…';
  return upstreams.flatMap((upstream) => [...drawOne(upstream), ...drawTools(upstream)]).join('\n');
}

function drawOne({ name, state, pid, tools, restarts, circuit, error, stderr, ...of }: Output[number]): string[] {
  const where = of.command ?? of.origin;
  const facts = [
    ...(pid === undefined ? [] : [`pid ${pid}`]),
    `${tools} tools`,
    ...(of.era === undefined ? [] : [`MCP ${printable(of.era)}`]),
    ...(of.sharing === undefined ? [] : [`one process for each ${of.sharing}`]),
    ...(of.sessions === undefined ? [] : [of.sharing === undefined ? `${of.sessions} sessions` : `${of.sessions} running`]),
    ...(restarts === 0 ? [] : [`${restarts} restarts`]),
    ...(circuit === undefined || circuit === 'closed' ? [] : [`circuit ${circuit}`]),
  ];
  return [
    `${printable(name)}  ${state}  ${facts.join(', ')}${where === undefined ? '' : `  ${printable(where)}`}`,
    ...(error === undefined ? [] : [`  ${printable(error)}`]),
    ...(state === 'login_needed' ? [`  When that is mended, run: sallyport upstream retry ${printable(name)}`] : []),
    ...(state === 'waiting_for_secrets' ? ['  Add it with: sallyport secret add REF'] : []),
    ...(state === 'unaccepted' ? [`  Look at it and run: sallyport upstream accept ${printable(name)}`] : []),
    ...(stderr === undefined ? [] : [`  | ${printableLines(stderr)}`]),
  ];
}

/** What is not served as it is offered, and where to read on. */
function drawTools({ name, quarantined, unusable = [], warned = 0 }: Output[number]): string[] {
  const see = `see: sallyport tools review ${printable(name)}`;
  const waiting = quarantined - unusable.length;
  const hidden = unusable.length - mostReasons;
  return [
    ...(waiting === 0 ? [] : [`  new or changed tools that wait for you: ${waiting}; ${see}`]),
    ...unusable.slice(0, mostReasons).map(({ tool, why }) => `  ${printable(tool)} is left out: ${printable(why)}`),
    ...(hidden <= 0 ? [] : [`  further tools that are left out: ${hidden}; ${see}`]),
    ...(warned === 0 ? [] : [`  tools that some clients or model APIs refuse: ${warned}; ${see}`]),
  ];
}

export function listOperation({ fleet }: FleetOperationDeps) {
  return defineOperation<z.infer<typeof input>, Output>({
    name: 'fleet.list',
    summary: 'List the upstreams, their state and what went wrong.',
    input,
    output,
    effect: 'look',
    access: 'local',
    command: { words: 'upstream ls', draw },
    run: async () => [...fleet.status()],
  });
}
