// Much at once: progress that leaves in one write with its result, and results of many megabytes. For every pair of eras, doors and
// transports, through the program, to a client that parses nothing on the way.
import { createHash } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { startHttpFixture } from '../fixtures/http-server.ts';
import { openDoor, type RawDoor } from '../support/raw-doors.ts';
import { plainIdentity, type RawIdentity } from '../support/raw-client.ts';
import { sliceAt } from '../support/json-slices.ts';
import { addAgent, addUpstream, decide, openHouse, type RunningDaemon } from '../support/running-daemon.ts';

const policies = 'version: 1\nagents:\n  "*":\n    capabilities:\n      - match: "*:call:*"\n        effect: allow\n';
const eras: readonly RawIdentity['era'][] = ['2025-11-25', '2026-07-28'];
const doors: readonly RawDoor[] = ['http', 'bridge'];

async function scene(): Promise<{ readonly daemon: RunningDaemon; readonly token: string }> {
  const house = await openHouse({ policies });
  const daemon = await house.up();
  const token = await addAgent(house, daemon, 'kimi');
  await addUpstream(house, daemon, 'burst', 'progress-burst');
  await addUpstream(house, daemon, 'pipe', 'big-result');
  for (const era of ['session', 'stateless'] as const) {
    const fixture = await startHttpFixture({ era });
    onTestFinished(() => fixture.stop());
    await decide(house, daemon, 'fleet.add', { name: era, url: fixture.url });
  }
  return { daemon, token };
}

test(
  '[CASE-1] [DOOR-5] none of 1,000 progress notices that share a write with their result is lost',
  { timeout: 60_000 },
  async () => {
    const { daemon, token } = await scene();
    const expected = Array.from({ length: 1_000 }, (_, at) => at + 1);
    for (const era of eras)
      for (const door of doors) {
        const client = await openDoor(door, daemon.agent_url, token, { ...plainIdentity, era });
        for (const upstream of ['burst', 'session', 'stateless']) {
          const before = client.heard.length;
          await client.ask('tools/call', {
            params: `"name":"${upstream}__burst","arguments":{"count":"1000"}`,
            meta: `"progressToken":"of ${upstream}"`,
          });
          const notices = client.heard.slice(before).map((text) => JSON.parse(text) as { params: Record<string, unknown> });
          expect(notices.map(({ params }) => params['progress'])).toEqual(expected);
          expect(notices.every(({ params }) => params['progressToken'] === `of ${upstream}`)).toBe(true);
        }
        await client.close();
      }
  },
);

test.each([
  ['1 MB', 1_000_000],
  ['20 MB', 20_000_000],
])('[CASE-2] [DOOR-11] a result of %s arrives whole', { timeout: 120_000 }, async (_, bytes) => {
  const { daemon, token } = await scene();
  const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');
  const expected = digestOf(JSON.stringify('x'.repeat(bytes)));
  for (const era of eras)
    for (const door of doors) {
      const client = await openDoor(door, daemon.agent_url, token, { ...plainIdentity, era });
      for (const upstream of ['pipe', 'session', 'stateless']) {
        const answer = await client.ask('tools/call', { params: `"name":"${upstream}__big","arguments":{"bytes":"${bytes}"}` });
        const text = sliceAt(answer, ['result', 'content', 0, 'text']) ?? answer.slice(0, 300);
        expect([era, door, upstream, text.length, digestOf(text)]).toEqual([era, door, upstream, bytes + 2, expected]);
      }
      await client.close();
    }
});
