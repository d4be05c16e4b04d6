// Clients nobody here wrote, at the running program: the inspector's command line over both doors, and mcp-remote, which makes a pipe of a
// door over HTTP for clients that know only pipes.
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { commandOf, interop, packaged, stockServers } from '../support/interop-servers.ts';
import { sliceAt } from '../support/json-slices.ts';
import { openPipe } from '../support/raw-client.ts';
import { runProgram } from '../support/run-to-end.ts';
import { addAgent, addUpstream, decide, openHouse, type House, type RunningDaemon } from '../support/running-daemon.ts';

const policies = 'version: 1\nagents:\n  "*":\n    capabilities:\n      - match: "*:{call,read,prompt}:*"\n        effect: allow\n';
const main = fileURLToPath(new URL('../../src/app/main.ts', import.meta.url));

interface Scene {
  readonly house: House;
  readonly daemon: RunningDaemon;
  readonly token: string;
}

async function scene(): Promise<Scene> {
  const house = await openHouse({ policies });
  const daemon = await house.up();
  mkdirSync(house.path('scratch'));
  const [everything] = stockServers(house.path('scratch'), undefined);
  await decide(house, daemon, 'fleet.add', { name: 'everything', run: commandOf(everything!) });
  await addUpstream(house, daemon, 'burst', 'progress-burst');
  return { house, daemon, token: await addAgent(house, daemon, 'kimi') };
}

test.skipIf('reason' in interop)(
  '[INTEROP-3] the inspector lists, calls, reads and gets prompts over HTTP and over the stdio bridge',
  { timeout: 120_000 },
  async () => {
    const { house, daemon, token } = await scene();
    const env = { PATH: process.env['PATH'] ?? '', HOME: house.folder, SALLYPORT_HOME: house.home, SALLYPORT_TOKEN: token };
    const doors = {
      http: [daemon.agent_url, '--transport', 'http', '--header', `Authorization: Bearer ${token}`],
      stdio: [process.execPath, main, 'mcp', '-e', `SALLYPORT_TOKEN=${token}`, '-e', `SALLYPORT_HOME=${house.home}`],
    };
    const asked: readonly (readonly [readonly string[], RegExp])[] = [
      [['--method', 'tools/list'], /"name": ?"everything__get-sum"/],
      [['--method', 'tools/call', '--tool-name', 'everything__get-sum', '--tool-arg', 'a=40', 'b=2'], /sum of 40 and 2 is 42/],
      [['--method', 'resources/list'], /demo:\/\/resource\/static\/document\/architecture\.md/],
      [['--method', 'resources/read', '--uri', 'demo://resource/static/document/architecture.md'], /"contents"/],
      [['--method', 'prompts/list'], /"name": ?"everything__simple-prompt"/],
      [['--method', 'prompts/get', '--prompt-name', 'everything__simple-prompt'], /"messages"/],
    ];
    const inspect = async (door: 'http' | 'stdio', [method, says]: (typeof asked)[number]): Promise<void> => {
      const program = [process.execPath, packaged('.bin/mcp-inspector'), '--cli', ...doors[door], ...method];
      const { code, stdout, stderr } = await runProgram(program, env);
      expect([door, ...method, code, stderr]).toEqual([door, ...method, 0, expect.any(String)]);
      expect(stdout).toMatch(says);
    };
    for (const one of asked) await Promise.all([inspect('http', one), inspect('stdio', one)]);
  },
);

test.skipIf('reason' in interop)(
  '[INTEROP-3] through mcp-remote a client of pipes lists, calls and hears progress as at our own bridge',
  { timeout: 60_000 },
  async () => {
    const { house, daemon, token } = await scene();
    const env = { PATH: process.env['PATH'] ?? '', HOME: house.folder, SALLYPORT_HOME: house.home, SALLYPORT_TOKEN: token };
    const remote = await openPipe(
      [
        process.execPath,
        packaged('.bin/mcp-remote'),
        daemon.agent_url,
        '--allow-http',
        '--transport',
        'http-only',
        '--header',
        `Authorization: Bearer ${token}`,
      ],
      env,
    );
    const bridge = await openPipe([process.execPath, main, 'mcp'], env);
    const lists: object[] = [];
    for (const client of [remote, bridge]) {
      const list = await client.ask('tools/list');
      expect(list).toContain('"everything__echo"');
      expect(list).toContain('"scopegate_can_i"');
      const call = await client.ask('tools/call', { params: '"name":"everything__echo","arguments":{"message":"hi"}' });
      expect(sliceAt(call, ['result', 'content', 0, 'text'])).toBe('"Echo: hi"');
      const before = client.heard.length;
      const burst = { params: '"name":"burst__burst","arguments":{"count":"20"}', meta: '"progressToken":"p"' };
      expect(await client.ask('tools/call', burst)).toContain('sent 20 notices');
      // mcp-remote hands on notices one after another, so that some may come after the result.
      await expect.poll(() => client.heard.slice(before).filter((text) => text.includes('notifications/progress')).length).toBe(20);
      lists.push((JSON.parse(list) as { result: object }).result);
    }
    expect(lists[0]).toEqual(lists[1]);
    await Promise.all([remote.close(), bridge.close()]);
  },
);
