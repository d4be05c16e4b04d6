// An upstream over HTTP that says the credential it was shown, and the wait until upstreams that were given one are up.
import { onTestFinished } from 'vitest';
import type { HttpFixture } from '../fixtures/http-fixture.ts';
import { startHttpFixture } from '../fixtures/http-server.ts';
import { spokenWays } from '../fixtures/spoken-ways.ts';
import { until, type RunningDaemon } from './running-daemon.ts';

/** An upstream over HTTP that repeats the header it was given. */
export async function repeater(header: string, values: Set<string>): Promise<HttpFixture> {
  const fixture = await startHttpFixture({
    tools: ['say', 'refuse', 'status', 'progress'].map((name) => ({
      name,
      description: `Says it.`,
      inputSchema: { type: 'object' },
      annotations: { readOnlyHint: true },
    })),
    gate({ headers, message }) {
      const value = String(headers[header] ?? 'nothing').replace(/^Bearer /, '');
      values.add(value);
      if (message?.method !== 'tools/call') return undefined;
      const { name, arguments: args } = message.params as { name: string; arguments?: { way?: string } };
      if (name === 'status') return { status: 500, body: `no: ${value}` };
      const about = { jsonrpc: '2.0', id: message.id };
      const body =
        name === 'refuse'
          ? { ...about, error: { code: -32000, message: `not with ${value}`, data: { value } } }
          : { ...about, result: (spokenWays[args?.way ?? 'raw'] ?? spokenWays['raw'])?.(value) };
      return { status: 200, body: JSON.stringify(body) };
    },
  });
  onTestFinished(() => fixture.stop());
  return fixture;
}

export async function allReady(daemon: RunningDaemon): Promise<void> {
  await until(
    async () => {
      const rows = (await daemon.line.operate('fleet.list', {})) as { name: string; state: string }[];
      for (const { name, state } of rows) if (state === 'backoff') await daemon.line.operate('fleet.retry', { name });
      return rows.every(({ state }) => state === 'ready');
    },
    'every upstream is ready',
    40_000,
  );
}
