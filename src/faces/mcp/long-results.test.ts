// Results of any length, in any characters, through the agent door: the text that came is the text that goes.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ask, openSession, openTestDoor, rpc, type TestDoor } from '../../../test/support/agent-door.ts';

let door: TestDoor;

beforeEach(async () => {
  door = await openTestDoor();
});

afterEach(() => door.close());

const call = rpc('a"b', 'tools/call', { name: 'up__long', arguments: {} });

/** Lengths around every bound on the way, and one that no socket takes at once. */
const lengths = [8_100, 8_192, 8_300, 65_536, 300_000, 3_000_000];

test.each(['x', '\u00e9', '\u6f22', '\u{1f600}', ' \\" '])(
  '[FAST-6] [DOOR-11] a long result of %j arrives as the text it is, as JSON, as an event and by the other way in',
  async (character) => {
    const session = await openSession(door);
    for (const length of lengths) {
      const result = `{"content":[{"type":"text","text":"${character.repeat(length / character.length)}"}], "n":1.0}`;
      const whole = `{"jsonrpc":"2.0","id":"a\\"b","result":${result}}`;
      door.dispatch.tools_.set('up__long', () => Promise.resolve({ kind: 'upstream', result }));
      const plain = await ask(door, { headers: { 'mcp-session-id': session }, body: call });
      expect(plain.headers['content-length']).toBe(String(Buffer.byteLength(whole)));
      expect(plain.body === whole).toBe(true);
      const event = await ask(door, { headers: { 'mcp-session-id': session, accept: 'text/event-stream' }, body: call });
      expect(event.body === `event: message\ndata: ${whole}\n\n`).toBe(true);
      // With TE a request is not plain.
      const other = await ask(door, { headers: { 'mcp-session-id': session, te: 'trailers' }, body: call });
      expect(other.body === whole).toBe(true);
    }
  },
);
