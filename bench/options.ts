// What `npm run bench -- …` accepts.
import { parseArgs } from 'node:util';

export interface Options {
  readonly rounds: number;
  /** Share of the usual calls and warm-up. */
  readonly share: number;
  readonly limitMs: number;
  /** Above this share of the machine going elsewhere, steal time included, a lap is void. */
  readonly tolerance: number;
  readonly cells: readonly string[];
  readonly arms: readonly string[];
  readonly json: boolean;
}

export const usage = `npm run bench -- [options]
  --rounds N     rounds to run, each with fresh processes (default 5)
  --quick        one round with a quarter of the calls, under a minute
  --cells A,B    only these cells, e.g. 32x100B,1x1MB
  --arms A,B     only these arms, e.g. direct,floor
  --tolerance P  percent of the machine that other processes may take in a lap that counts (default 12)
  --json         print the results as JSON instead of tables`;

function list(text: string | undefined): string[] {
  return (text ?? '').split(',').filter((name) => name !== '');
}

/** `undefined` when help was asked for; throws on an unknown option or a count that is none. */
export function readOptions(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      cells: { type: 'string' },
      arms: { type: 'string' },
      tolerance: { type: 'string', default: '12' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 5));
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 50) throw new Error('--rounds takes a whole number from 1 to 50');
  const tolerance = Number(values.tolerance) / 100;
  if (!(tolerance >= 0 && tolerance <= 1)) throw new Error('--tolerance takes a percentage from 0 to 100');
  return {
    rounds,
    tolerance,
    share: values.quick ? 0.25 : 1,
    limitMs: values.quick ? 55_000 : Math.max(570_000, rounds * 114_000),
    cells: list(values.cells),
    arms: list(values.arms),
    json: values.json,
  };
}
