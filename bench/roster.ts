// Every arm there is, and which of them a run asks for.
import type { Arm } from './arm.ts';
import { direct } from './arms/direct.ts';
import { floor } from './arms/floor.ts';
import { mcpHub } from './arms/mcp-hub.ts';
import { mcpProxy } from './arms/mcp-proxy.ts';
import { sallyport } from './arms/sallyport.ts';
import { supergateway } from './arms/supergateway.ts';
import { subjectOf } from './arm.ts';

export const everyArm: readonly Arm[] = [direct, floor, sallyport, mcpProxy, supergateway, mcpHub];

/** The names of all rows in the order they are shown. */
export const subjects: readonly string[] = everyArm.flatMap((arm) => arm.tools.map((tool) => subjectOf(arm, tool)));

/** Both lists hold names; an empty `arms` means all, `peers` narrows those that are not ours. Throws on a name there is not. */
export function chooseArms(arms: readonly string[], peers: 'all' | readonly string[]): readonly Arm[] {
  const known = everyArm.map(({ name }) => name);
  const unknown = arms.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`no such arm: ${unknown.join(', ')}; there are ${known.join(', ')}`);
  const others = everyArm.filter(({ peer }) => peer !== undefined).map(({ name }) => name);
  const strange = peers === 'all' ? [] : peers.filter((name) => !others.includes(name));
  if (strange.length > 0) throw new Error(`no such peer: ${strange.join(', ')}; there are all, none, ${others.join(', ')}`);
  return everyArm
    .filter(({ name }) => arms.length === 0 || arms.includes(name))
    .filter(({ name, peer }) => peer === undefined || peers === 'all' || peers.includes(name));
}
