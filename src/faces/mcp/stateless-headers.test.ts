// Headers of a 2026-07-28 request that repeat parts of its body, over real sockets: proxies route by them, so they must tell the truth.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ask, openSession, openTestDoor, rpc, type TestDoor } from '../../../test/support/agent-door.ts';
import { statelessAsk, type HeaderChanges, type Params } from '../../../test/support/stateless-agent.ts';

let door: TestDoor;

beforeEach(async () => {
  door = await openTestDoor();
});

afterEach(() => door.close());

const echo = { name: 'up__echo', arguments: { a: ['ü', 1] } };

describe('headers that repeat the body', () => {
  test.each<[string, string, Params, HeaderChanges]>([
    ['no version', 'tools/list', {}, { 'mcp-protocol-version': undefined }],
    ['another version', 'tools/list', {}, { 'mcp-protocol-version': '2025-11-25' }],
    ['an unknown version', 'tools/list', {}, { 'mcp-protocol-version': 'v999.0.0' }],
    ['no method', 'tools/list', {}, { 'mcp-method': undefined }],
    ['another method', 'tools/list', {}, { 'mcp-method': 'prompts/list' }],
    ['the method in capitals', 'tools/list', {}, { 'mcp-method': 'TOOLS/LIST' }],
    ['no name', 'tools/call', echo, { 'mcp-name': undefined }],
    ['another name', 'tools/call', echo, { 'mcp-name': 'up__fails' }],
    ['the name twice', 'tools/call', echo, { 'mcp-name': 'up__echo, up__echo' }],
    ['broken base64', 'tools/call', echo, { 'mcp-name': '=?base64?dXBfX2VjaG8?=' }],
    ['no URI', 'resources/read', { uri: 'a:b' }, { 'mcp-name': undefined }],
    ['another prompt', 'prompts/get', { name: 'p' }, { 'mcp-name': 'q' }],
  ])('[ERA-4] %s is 400 and -32020, under the id, and reaches nothing', async (_, method, params, headers) => {
    const answer = await statelessAsk(door, method, params, { id: 'h', headers });
    expect(answer.status).toBe(400);
    expect(answer.reply).toMatchObject({ id: 'h', error: { code: -32020, message: expect.stringMatching(/header/) as string } });
    expect(door.dispatch.calls).toEqual([]);
  });

  test.each<[string, Params, HeaderChanges]>([
    ['white space around it', echo, { 'mcp-name': '  up__echo \t' }],
    ['capitals in its name', echo, { 'mcp-name': undefined, 'MCP-NAME': 'up__echo' }],
    ['base64', echo, { 'mcp-name': '=?base64?dXBfX2VjaG8=?=' }],
    ['a name that needs it', { name: 'wörk' }, { 'mcp-name': '=?base64?d8O2cms=?=' }],
  ])('[ERA-4] a name with %s is fine', async (_, params, headers) => {
    expect((await statelessAsk(door, 'tools/call', params, { headers })).status).toBe(200);
    expect(door.dispatch.calls).toHaveLength(1);
  });

  test('[ERA-4] a call without a name is bad params, not a wrong header', async () => {
    expect(await statelessAsk(door, 'tools/call')).toMatchObject({ status: 200, reply: { error: { code: -32602 } } });
  });
});

describe('arguments that are repeated in headers', () => {
  const listed = JSON.stringify({
    name: 'up__echo',
    inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, q: { type: 'string' } } },
  });
  const call = { name: 'up__echo', arguments: { region: 'Hello', q: 'x' } };

  test.each<[HeaderChanges, number]>([
    [{ 'mcp-param-region': 'Hello' }, 200],
    [{ 'Mcp-Param-REGION': '=?base64?SGVsbG8=?=' }, 200],
    [{}, 400],
    [{ 'mcp-param-region': 'hello' }, 400],
    [{ 'mcp-param-region': '=?base64?SGVsbG8?=' }, 400],
  ])('[ERA-5] %j is %d', async (headers, status) => {
    door.dispatch.listed = [...door.dispatch.listed, listed];
    const answer = await statelessAsk(door, 'tools/call', call, { headers });
    expect(answer.status).toBe(status);
    expect(answer.reply.error?.code).toBe(status === 200 ? undefined : -32020);
    expect(door.dispatch.calls).toHaveLength(status === 200 ? 1 : 0);
  });

  test('[ERA-5] a definition that changes, or goes, takes its headers along', async () => {
    expect((await statelessAsk(door, 'tools/call', call)).status).toBe(200);
    door.dispatch.listed = [listed];
    expect((await statelessAsk(door, 'tools/call', call)).status).toBe(400);
    door.dispatch.listed = [listed.replace('"Region"', '"Place"')];
    expect((await statelessAsk(door, 'tools/call', call, { headers: { 'mcp-param-place': 'Hello' } })).status).toBe(200);
    door.dispatch.listed = [];
    expect((await statelessAsk(door, 'tools/call', call)).status).toBe(200);
  });

  test('[ERA-5] sessions know nothing of it', async () => {
    door.dispatch.listed = [listed];
    const session = await openSession(door);
    const answer = await ask(door, { headers: { 'mcp-session-id': session }, body: rpc(1, 'tools/call', call) });
    expect(JSON.parse(answer.body)).toHaveProperty('result');
  });
});
