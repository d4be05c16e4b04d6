// The floor as an arm: bench/floor.ts in front of the upstream.
import { fileURLToPath } from 'node:url';
import type { Arm } from '../arm.ts';
import { firstLine, start, stop, upstreamCommand } from '../children.ts';

const program = fileURLToPath(new URL('../floor.ts', import.meta.url));

export const floor: Arm = {
  name: 'floor',
  tools: ['read'],
  start: async () => {
    const child = start(process.execPath, [program, ...upstreamCommand], { stdio: ['pipe', 'pipe', 'pipe'] });
    const { url } = await firstLine(child, 'floor');
    return {
      target: { kind: 'http', url: String(url), tools: { read: 'read', write: 'write' } },
      ...(child.pid === undefined ? {} : { pid: child.pid }),
      stop: () => stop(child),
    };
  },
};
