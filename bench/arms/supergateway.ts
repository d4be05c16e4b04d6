// Peer: supergateway, a stdio upstream served over HTTP with sessions; each session has a child of its own. Logging is off.
import { ownNames, type Arm } from '../arm.ts';
import { upstreamCommand } from '../children.ts';
import { anyPort, startPeer } from '../peer.ts';

const script = 'supergateway/dist/index.js';

export const supergateway: Arm = {
  name: 'supergateway',
  peer: true,
  tools: ['read'],
  cannot: { http: 'it takes an HTTP upstream to stdio only', bridge: 'it takes stdio to HTTP only' },
  start: async () => {
    const transport = ['--outputTransport', 'streamableHttp', '--stateful', '--port', anyPort, '--logLevel', 'none'];
    const command = upstreamCommand.map((part) => `'${part.replaceAll("'", String.raw`'\''`)}'`).join(' ');
    const { child, origin, stop } = await startPeer('supergateway', script, () => ['--stdio', command, ...transport]);
    return {
      target: { kind: 'http', url: `${origin}/mcp`, tools: ownNames },
      ...(child.pid === undefined ? {} : { pid: child.pid }),
      stop,
    };
  },
};
