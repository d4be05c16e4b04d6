// How long each program takes from spawn to ready. Sallyport starts on a home that has its operator and no upstreams; floor and peers
// have no such state, they start with the one stdio upstream they are for.
import type { Arm } from './arm.ts';
import { stop } from './children.ts';
import { build, makeHome, startDaemon, type Home } from './product.ts';
import { median } from './statistics.ts';

export interface Start {
  readonly name: string;
  /** Median of `times`, milliseconds; absent when it never became ready. */
  readonly readyMs?: number;
  readonly times: number;
  readonly failed?: string;
}

type Starter = () => Promise<{ stop(): Promise<void> }>;

async function startOurs(home: Home): Promise<{ stop(): Promise<void> }> {
  const { child } = await startDaemon(home);
  return { stop: () => stop(child) };
}

function starterOf(arm: Arm, home: Home): Starter | undefined {
  if (arm.name === 'direct') return undefined;
  return arm.name === 'sallyport' ? () => startOurs(home) : () => arm.start('stdio');
}

/** Every arm in turn, `times` times over; the first start of all is thrown away, it finds cold files and makes the operator. */
export async function measureStarts(arms: readonly Arm[], times: number): Promise<Start[]> {
  build();
  const home = makeHome();
  const taken = new Map<string, number[]>();
  const failures = new Map<string, string>();
  try {
    for (let turn = 0; turn <= times; turn += 1) {
      for (const arm of arms) {
        const starter = failures.has(arm.name) ? undefined : starterOf(arm, home);
        if (starter === undefined) continue;
        const spawned = performance.now();
        try {
          const running = await starter();
          const readyMs = performance.now() - spawned;
          await running.stop();
          if (turn > 0) taken.set(arm.name, [...(taken.get(arm.name) ?? []), readyMs]);
        } catch (error) {
          if (arm.peer === undefined) throw error;
          failures.set(arm.name, error instanceof Error ? error.message : String(error));
        }
      }
    }
  } finally {
    home.remove();
  }
  return arms
    .filter((arm) => starterOf(arm, home) !== undefined)
    .map(({ name }) => {
      const readyMs = median(taken.get(name) ?? []);
      const failed = failures.get(name);
      return {
        name,
        times: taken.get(name)?.length ?? 0,
        ...(readyMs === undefined ? {} : { readyMs }),
        ...(failed === undefined ? {} : { failed }),
      };
    });
}
