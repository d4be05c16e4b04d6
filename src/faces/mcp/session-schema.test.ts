// What a session of the 2025 revisions is sent, judged by the schema that was published for 2025-11-25.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ask, initialize, openSession, openTestDoor, rpc, type TestDoor } from '../../../test/support/agent-door.ts';
import { schemaFaults } from '../../../test/support/mcp-schema.ts';
import { openStream } from '../../../test/support/mcp-stream.ts';

let door: TestDoor;

beforeEach(async () => {
  door = await openTestDoor();
});

afterEach(() => door.close());

function faults(message: unknown, type: string): string[] {
  return schemaFaults('2025-11-25', type, message);
}

test('[ERA-10] results, errors and notices of a session are what schema 2025-11-25 says they are', async () => {
  const session = await openSession(door);
  const answer = async (body: string): Promise<{ result?: unknown; error?: unknown }> =>
    JSON.parse((await ask(door, { headers: { 'mcp-session-id': session }, body })).body) as { result?: unknown; error?: unknown };

  const opening = JSON.parse((await ask(door, { body: initialize })).body) as { result: unknown };
  expect(faults(opening.result, 'InitializeResult')).toEqual([]);
  expect(faults((await answer(rpc(1, 'ping'))).result, 'EmptyResult')).toEqual([]);
  expect(faults((await answer(rpc(2, 'tools/list'))).result, 'ListToolsResult')).toEqual([]);
  for (const name of ['up__echo', 'scopegate_can_i', 'nope', 'up__breaks'])
    expect(faults((await answer(rpc(3, 'tools/call', { name }))).result, 'CallToolResult')).toEqual([]);
  for (const body of [rpc(4, 'no/method'), rpc(5, 'tools/call'), rpc(6, 'tools/call', { name: 'up__fails' })]) {
    const failed = await answer(body);
    expect(failed).toHaveProperty('error');
    expect(faults(failed, 'JSONRPCErrorResponse')).toEqual([]);
  }

  const call = rpc(7, 'tools/call', { name: 'up__progress', arguments: { n: 2 }, _meta: { progressToken: 't' } });
  const { events, ended } = await openStream(door, session, { body: call });
  await ended;
  for (const note of events.slice(0, 2)) expect(faults(note, 'ProgressNotification')).toEqual([]);
  const listening = await openStream(door, session);
  door.dispatch.change();
  await expect.poll(() => listening.events.length).toBe(1);
  expect(faults(listening.events[0], 'ToolListChangedNotification')).toEqual([]);
  listening.drop();
});

test('[ERA-10] the judge is not blind', () => {
  expect(faults({ tools: [{ name: 'a' }] }, 'ListToolsResult')).toEqual([
    "ListToolsResult/tools/0 must have required property 'inputSchema'",
  ]);
  expect(schemaFaults('2026-07-28', 'ListToolsResult', { tools: [] })).toHaveLength(3);
});
