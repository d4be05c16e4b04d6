// Nothing in between: the client talks to the upstream itself, over the pipes of a child or over HTTP.
import { ownNames, type Arm } from '../arm.ts';
import { startListening, stop, upstreamCommand } from '../children.ts';

export const direct: Arm = {
  name: 'direct',
  tools: ['read'],
  start: async (route) => {
    const [command, ...args] = upstreamCommand;
    if (route !== 'http') return { target: { kind: 'pipe', command, args, tools: ownNames }, stop: () => Promise.resolve() };
    const { child, url } = await startListening('upstream-http.ts', []);
    return {
      target: { kind: 'http', url, tools: ownNames },
      ...(child.pid === undefined ? {} : { pid: child.pid }),
      stop: () => stop(child),
    };
  },
};
