// Peer: mcp-proxy, one stdio upstream served over HTTP. Its store of replayable events is off, which spares it keeping every answer.
import { ownNames, type Arm } from '../arm.ts';
import { upstreamCommand } from '../children.ts';
import { anyPort, startPeer } from '../peer.ts';

const script = 'mcp-proxy/dist/bin/mcp-proxy.mjs';

export const mcpProxy: Arm = {
  name: 'mcp-proxy',
  peer: true,
  tools: ['read'],
  cannot: { http: 'it serves stdio upstreams only', bridge: 'it serves clients over HTTP only' },
  start: async () => {
    const options = ['--host', '127.0.0.1', '--port', anyPort, '--server', 'stream', '--no-eventStore'];
    const { child, origin, stop } = await startPeer('mcp-proxy', script, () => [...options, '--', ...upstreamCommand]);
    return {
      target: { kind: 'http', url: `${origin}/mcp`, tools: ownNames },
      ...(child.pid === undefined ? {} : { pid: child.pid }),
      stop,
    };
  },
};
