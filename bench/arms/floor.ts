// The floor as an arm: the forwarder of each route in front of a fresh upstream.
import type { ChildProcess } from 'node:child_process';
import { ownNames, type Arm, type RunningArm } from '../arm.ts';
import { programOf, startListening, stop, upstreamCommand } from '../children.ts';

function served(child: ChildProcess, url: string, stopAll: () => Promise<void>): RunningArm {
  return {
    target: { kind: 'http', url, tools: ownNames },
    ...(child.pid === undefined ? {} : { pid: child.pid }),
    stop: stopAll,
  };
}

export const floor: Arm = {
  name: 'floor',
  tools: ['read'],
  start: async (route) => {
    if (route === 'bridge') {
      const args = [programOf('floor-pipe.ts'), ...upstreamCommand];
      return { target: { kind: 'pipe', command: process.execPath, args, tools: ownNames }, stop: () => Promise.resolve() };
    }
    if (route === 'stdio') {
      const { child, url } = await startListening('floor.ts', upstreamCommand);
      return served(child, url, () => stop(child));
    }
    const upstream = await startListening('upstream-http.ts', []);
    const { child, url } = await startListening('floor-http.ts', [upstream.url]);
    return served(child, url, async () => {
      await stop(child);
      await stop(upstream.child);
    });
  },
};
