import { describe, expect, test } from 'vitest';
import { failure } from '../../test/support/fleet-home.ts';
import { callOn, clientInfo, connect, fixtureOf } from '../../test/support/http-upstream.ts';

const { signal } = new AbortController();

describe('an upstream of 2026-07-28', () => {
  const mark = JSON.stringify({
    name: 'routed',
    inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, n: { type: 'integer' } } },
  });

  test('[HTTPUP-10] gets the envelope, and in headers what the body says', async () => {
    const fixture = await fixtureOf({ era: 'stateless' });
    const connection = await connect(fixture.url);
    const args = { region: 'Zürich', n: 1 };
    const params = JSON.stringify({ name: 'routed', arguments: args, _meta: { trace: 't' }, extra: [1] });
    await connection.request('tools/call', params, {
      signal,
      timeoutMs: 3_000,
      subject: { name: 'routed', args, definition: mark },
    });
    const seen = fixture.seen.at(-1);
    expect(seen?.headers).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'routed',
      'mcp-param-region': `=?base64?${Buffer.from('Zürich').toString('base64')}?=`,
    });
    expect(seen?.headers['mcp-session-id']).toBeUndefined();
    expect(seen?.message?.params).toEqual({
      name: 'routed',
      arguments: args,
      extra: [1],
      _meta: {
        trace: 't',
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/clientInfo': clientInfo,
      },
    });
  });

  test('[HTTPUP-10] is shown what the caller can do, and no more', async () => {
    const fixture = await fixtureOf({ era: 'stateless' });
    const connection = await connect(fixture.url);
    const client = { capabilities: { elicitation: { form: {} } }, info: { name: 'agent', version: '2' } };
    await callOn(connection, 'echo', { message: 'x' }, { client });
    expect(fixture.seen.at(-1)?.message?.params?.['_meta']).toMatchObject({
      'io.modelcontextprotocol/clientCapabilities': client.capabilities,
      'io.modelcontextprotocol/clientInfo': client.info,
    });
  });

  test('[HTTPUP-11] what it asks back goes to a caller of 2026 as it is, and is an error for one of 2025', async () => {
    const fixture = await fixtureOf({ era: 'stateless' });
    const connection = await connect(fixture.url);
    const client = { capabilities: { elicitation: {} }, info: undefined };
    const asked = await callOn(connection, 'asks', {}, { client });
    expect(asked).toMatchObject({ kind: 'result', value: { resultType: 'input_required', requestState: 'stäte' } });
    const again = { name: 'asks', arguments: {}, inputResponses: { q: { action: 'accept' } }, requestState: 'stäte' };
    const subject = { name: 'asks', args: {}, definition: '{}' };
    const done = await connection.request('tools/call', JSON.stringify(again), { signal, timeoutMs: 3_000, client, subject });
    const said = (done.kind === 'result' ? done.value['content'] : undefined) as readonly { text: string }[];
    expect(JSON.parse(said[0]?.text ?? '')).toEqual({ inputResponses: again.inputResponses, requestState: 'stäte' });
    const error = await failure(callOn(connection, 'asks'));
    expect(error).toMatchObject({ code: 'fleet.input_required', message: expect.stringContaining('further input') as string });
  });

  test('[HTTPUP-10] its errors are its answers, whatever status they come with; closing the exchange cancels a call', async () => {
    const fixture = await fixtureOf({ era: 'stateless' });
    const connection = await connect(fixture.url);
    expect(await connection.request('ping', undefined, { signal, timeoutMs: 1_000 })).toMatchObject({
      kind: 'error',
      code: -32_601,
    });
    const wrong = { subject: { name: 'other', args: {}, definition: '{}' } };
    expect(await callOn(connection, 'echo', {}, wrong)).toMatchObject({ kind: 'error', code: -32_020 });
    expect(await failure(callOn(connection, 'sleep', { ms: 1_000 }, { timeoutMs: 50 }))).toMatchObject({ code: 'fleet.timeout' });
    expect(fixture.seen.some(({ message }) => message?.method === 'notifications/cancelled')).toBe(false);
  });

  test('[HTTPUP-7] its subscription tells of a changed list', async () => {
    const fixture = await fixtureOf({ era: 'stateless' });
    const connection = await connect(fixture.url, { listens: true });
    const heard: string[] = [];
    connection.onNotification((method) => heard.push(method));
    await expect.poll(() => fixture.subscriptions.size).toBe(1);
    for (const send of fixture.subscriptions) send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: {} });
    await expect.poll(() => heard).toContain('notifications/tools/list_changed');
    await connection.close(100);
    await expect.poll(() => fixture.subscriptions.size).toBe(0);
  });
});
