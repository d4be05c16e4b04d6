// The product with everything on: token, policy with redaction, pins, grants and the synced record. On the bridge route the client
// starts `sallyport mcp`, whose process is counted beside the daemon's.
import type { Arm, HttpTarget, PipeTarget, Route, ToolNames } from '../arm.ts';
import { startListening, stop, upstreamCommand } from '../children.ts';
import { build, makeHome, program, run, startDaemon } from '../product.ts';

const tools: ToolNames = { read: 'echo__read', write: 'echo__write' };

function targetOf(route: Route, agentUrl: string, token: string, home: string): HttpTarget | PipeTarget {
  if (route !== 'bridge') return { kind: 'http', url: agentUrl, token, tools };
  const env = { SALLYPORT_HOME: home, SALLYPORT_TOKEN: token };
  return { kind: 'pipe', command: process.execPath, args: [program, 'mcp'], env, tools };
}

export const sallyport: Arm = {
  name: 'sallyport',
  tools: ['read', 'write'],
  start: async (route) => {
    build();
    const home = makeHome();
    const started: { stop(): Promise<void> }[] = [];
    const stopAll = async (): Promise<void> => {
      for (const each of started.reverse()) await each.stop();
      home.remove();
    };
    try {
      const upstream = route === 'http' ? await startListening('upstream-http.ts', []) : undefined;
      if (upstream !== undefined) started.push({ stop: () => stop(upstream.child) });
      const daemon = await startDaemon(home);
      started.push({ stop: () => stop(daemon.child) });
      const { token } = await run(home, 'agent', 'add', 'bench', '--json');
      const where = upstream === undefined ? ['--', ...upstreamCommand] : ['--url', upstream.url];
      await run(home, 'upstream', 'add', 'echo', '--json', ...where);
      const target = targetOf(route, daemon.agentUrl, String(token), String(home.env['SALLYPORT_HOME']));
      return { target, pid: daemon.pid, stop: stopAll };
    } catch (error) {
      await stopAll();
      throw error;
    }
  },
};
