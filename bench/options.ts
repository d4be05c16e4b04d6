// What `npm run bench -- …` accepts.
import { parseArgs } from 'node:util';
import type { Route } from './arm.ts';

export interface Options {
  readonly rounds: number;
  /** Share of the usual calls and warm-up. */
  readonly share: number;
  /** How long one arm is measured in one cell at most. */
  readonly cellMs: number;
  /** Fresh processes for each payload; otherwise for each route only. */
  readonly fresh: boolean;
  readonly starts: number;
  /** The whole run; what is not measured by then is missing. */
  readonly limitMs: number;
  /** Above this share of the machine going elsewhere, steal time included, a lap is void. */
  readonly tolerance: number;
  readonly routes: readonly Route[];
  readonly cells: readonly string[];
  readonly arms: readonly string[];
  readonly peers: 'all' | readonly string[];
  /** Everything was asked for, at full length: the run can hold the budgets and be quoted. */
  readonly full: boolean;
  /** A failed budget of a full run is exit code 1. */
  readonly gate: boolean;
  /** Draw the last run again instead of measuring. */
  readonly redraw: boolean;
  readonly writeReadme: boolean;
  readonly json: boolean;
}

export const usage = `npm run bench -- [options]
  --quick        one round with an eighth of the calls, under 90 s; shows the budgets, does not hold them
  --only A,B     only these routes: stdio, http (the upstream's side), bridge (stdio on both sides)
  --cells A,B    only these cells, e.g. 32x100B,1x1MB
  --arms A,B     only these arms, e.g. direct,floor
  --peers WHICH  all (default), none, or names, e.g. mcp-proxy,mcp-hub
  --rounds N     rounds to run, each with fresh processes (default 5)
  --tolerance P  percent of the machine that other processes may take in a lap that counts (default 12)
  --no-gate      exit 0 even when a full run is over a budget
  --write-readme put tables and charts of a full run into bench/README.md and bench/charts/
  --redraw       measure nothing, draw the last full run again
  --json         print the results as JSON instead of tables
Exit codes: 0 done, 1 failed or a full run is over a budget.`;

const everyRoute: readonly Route[] = ['stdio', 'http', 'bridge'];

function list(text: string | undefined): string[] {
  return (text ?? '').split(',').filter((name) => name !== '');
}

function routesOf(text: string | undefined): readonly Route[] {
  const names = list(text);
  const unknown = names.filter((name) => !everyRoute.some((route) => route === name));
  if (unknown.length > 0) throw new Error(`no such route: ${unknown.join(', ')}; there are ${everyRoute.join(', ')}`);
  return everyRoute.filter((route) => names.length === 0 || names.includes(route));
}

function peersOf(text: string): 'all' | readonly string[] {
  if (text === 'all') return text;
  return text === 'none' ? [] : list(text);
}

/** `undefined` when help was asked for; throws on an unknown option or a count that is none. */
export function readOptions(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      cells: { type: 'string' },
      arms: { type: 'string' },
      peers: { type: 'string', default: 'all' },
      tolerance: { type: 'string', default: '12' },
      'no-gate': { type: 'boolean', default: false },
      'write-readme': { type: 'boolean', default: false },
      redraw: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 5));
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 20) throw new Error('--rounds takes a whole number from 1 to 20');
  const tolerance = Number(values.tolerance) / 100;
  if (!(tolerance >= 0 && tolerance <= 1)) throw new Error('--tolerance takes a percentage from 0 to 100');
  const full = !values.quick && rounds >= 3 && [values.only, values.cells, values.arms].every((value) => value === undefined);
  if (values['write-readme'] && !values.redraw && !full)
    throw new Error('--write-readme quotes full runs only: no --quick, --only, --cells or --arms, and at least 3 rounds');
  return {
    rounds,
    tolerance,
    share: values.quick ? 0.125 : 1,
    cellMs: values.quick ? 200 : 1000,
    fresh: !values.quick,
    starts: values.quick ? 1 : 5,
    limitMs: values.quick ? 75_000 : Math.max(1_170_000, rounds * 234_000),
    routes: routesOf(values.only),
    cells: list(values.cells),
    arms: list(values.arms),
    peers: peersOf(values.peers),
    full,
    gate: full && !values['no-gate'],
    redraw: values.redraw,
    writeReadme: values['write-readme'],
    json: values.json,
  };
}
