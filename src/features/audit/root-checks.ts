// Holds a growing tree against the roots it has to have at certain sizes. Pure.
import type { Mark } from './marks.ts';
import { sameBytes, type Frontier } from './merkle.ts';
import type { Problem } from './problem.ts';

export interface RootChecks {
  readonly passed: readonly Mark[];
  readonly failed: readonly Mark[];
  /** Call at every size, in order. */
  at(frontier: Frontier): void;
}

/** `marks` by ascending size. */
export function createRootChecks(marks: readonly Mark[]): RootChecks {
  const passed: Mark[] = [];
  const failed: Mark[] = [];
  let next = 0;
  return {
    passed,
    failed,
    at(frontier) {
      for (let mark = marks[next]; mark !== undefined && mark.size <= frontier.size; mark = marks[(next += 1)]) {
        if (mark.size === frontier.size) (sameBytes(frontier.root(), mark.root) ? passed : failed).push(mark);
      }
    },
  };
}

/** The first failure, bracketed by the last checkpoint before it that holds; `undefined` when nothing failed. */
export function forkOf(passed: readonly Mark[], failed: readonly Mark[]): Problem | undefined {
  const [first] = failed;
  if (first === undefined) return undefined;
  const from = passed.findLast(({ size, outside }) => size < first.size && (outside ?? !first.outside))?.size ?? 0;
  const message = `records ${from} to ${first.size - 1} are not the ones under ${first.where}, signed for ${first.size} records`;
  return { index: from, kind: 'forked', message };
}
