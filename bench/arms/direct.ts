// Nothing in between: the client starts the upstream and talks to it over pipes.
import type { Arm } from '../arm.ts';
import { upstreamCommand } from '../children.ts';

export const direct: Arm = {
  name: 'direct',
  tools: ['read'],
  start: async () => {
    const [command, ...args] = upstreamCommand;
    return await Promise.resolve({ target: { kind: 'pipe', command, args }, stop: () => Promise.resolve() });
  },
};
