// Peer: mcp-hub, an aggregator of upstreams of both kinds. Clients reach it over the older HTTP+SSE transport, it has no other.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Arm } from '../arm.ts';
import { startListening, stop as stopChild, upstreamCommand } from '../children.ts';
import { anyPort, startPeer } from '../peer.ts';

const script = 'mcp-hub/dist/cli.js';

/** It listens before it has its upstreams; resolves when the one it was given is connected, rejects after 20 s. */
async function connected(origin: string): Promise<void> {
  let seen = '';
  for (const end = performance.now() + 20_000; performance.now() < end; await sleep(50)) {
    seen = await (await fetch(`${origin}/api/servers`)).text();
    if (seen.includes('"status":"connected"')) return;
  }
  throw new Error(`mcp-hub has no connection to the upstream after 20 s: ${seen.slice(0, 300)}`);
}

export const mcpHub: Arm = {
  name: 'mcp-hub',
  peer: true,
  tools: ['read'],
  cannot: { bridge: 'it serves clients over HTTP only' },
  start: async (route) => {
    const upstream = route === 'http' ? await startListening('upstream-http.ts', []) : undefined;
    const [command, ...args] = upstreamCommand;
    const echo = upstream === undefined ? { command, args } : { url: upstream.url };
    const stopUpstream = async (): Promise<void> => (upstream === undefined ? undefined : await stopChild(upstream.child));
    try {
      const peer = await startPeer('mcp-hub', script, (home) => {
        const config = join(home, 'config.json');
        writeFileSync(config, JSON.stringify({ mcpServers: { echo } }));
        return ['--port', anyPort, '--config', config];
      });
      const stop = async (): Promise<void> => {
        await peer.stop();
        await stopUpstream();
      };
      await connected(peer.origin).catch(async (error: unknown) => {
        await peer.stop();
        throw error;
      });
      return {
        target: { kind: 'sse', url: `${peer.origin}/mcp`, tools: { read: 'echo__read', write: 'echo__write' } },
        ...(peer.child.pid === undefined ? {} : { pid: peer.child.pid }),
        stop,
      };
    } catch (error) {
      await stopUpstream();
      throw error;
    }
  },
};
