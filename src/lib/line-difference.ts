// What differs between two texts that differ in one place: the lines between their common beginning and their common end.

/** `after line 12`, then `- ` and `+ ` lines; empty when the texts are the same. */
export function lineDifference(before: string, after: string): string[] {
  const [olds, nexts] = [before.split('\n'), after.split('\n')];
  const most = Math.min(olds.length, nexts.length);
  let head = 0;
  while (head < most && olds[head] === nexts[head]) head += 1;
  let tail = 0;
  while (tail < most - head && olds.at(-1 - tail) === nexts.at(-1 - tail)) tail += 1;
  const [lost, added] = [olds.slice(head, olds.length - tail), nexts.slice(head, nexts.length - tail)];
  if (lost.length + added.length === 0) return [];
  return [`after line ${head}`, ...lost.map((line) => `- ${line}`), ...added.map((line) => `+ ${line}`)];
}
