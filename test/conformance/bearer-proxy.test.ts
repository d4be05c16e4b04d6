// What the proxy changes on the way, and that it changes nothing else: a result of the suite must be the gateway's, not the proxy's.
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openBearerProxy } from './bearer-proxy.ts';

async function scene(answer: string) {
  const seen: { method: string | undefined; url: string | undefined; headers: IncomingMessage['headers']; body: string }[] = [];
  const gone = Promise.withResolvers<void>();
  const gateway = createServer((incoming, response) => {
    let body = '';
    incoming.on('data', (chunk: Buffer) => (body += chunk.toString()));
    incoming.on('end', () => {
      seen.push({ method: incoming.method, url: incoming.url, headers: incoming.headers, body });
      response.writeHead(202, { 'x-odd': 'kept' });
      response.write(answer);
      if (!answer.startsWith('event')) response.end();
    });
    response.on('close', () => gone.resolve());
  });
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  const { port } = gateway.address() as AddressInfo;
  const proxy = await openBearerProxy(`http://127.0.0.1:${port}/mcp/upstreams/fixture`, 'secret');
  onTestFinished(() => {
    proxy.close();
    gateway.close();
    gateway.closeAllConnections();
  });
  return { seen, proxy, gateway: `127.0.0.1:${port}`, gone: gone.promise };
}

function send(url: string, headers: Record<string, string>, body = '{}') {
  return new Promise<{ status: number | undefined; odd: unknown; first: string; hangUp: () => void }>((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers, agent: false }, (response) => {
      response.once('data', (chunk: Buffer) => {
        resolve({
          status: response.statusCode,
          odd: response.headers['x-odd'],
          first: chunk.toString(),
          hangUp: () => sent.destroy(),
        });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

test('[CONF-2] the proxy adds the token, says the gateway’s name for its own, and passes on the rest', async () => {
  const { seen, proxy, gateway } = await scene('{"answer":1}');
  const own = new URL(proxy.url).host;
  const { status, odd, first } = await send(
    proxy.url,
    { origin: `http://${own}`, 'mcp-name': 'a', 'content-type': 'x/y' },
    '{"q":1}',
  );
  expect({ status, odd, first }).toEqual({ status: 202, odd: 'kept', first: '{"answer":1}' });
  expect(seen[0]).toMatchObject({
    method: 'POST',
    url: '/mcp/upstreams/fixture',
    body: '{"q":1}',
    headers: { host: gateway, origin: `http://${gateway}`, authorization: 'Bearer secret', 'mcp-name': 'a', 'content-type': 'x/y' },
  });
});

test('[CONF-2] a stranger’s Host and Origin reach the gateway as they are', async () => {
  const { seen, proxy } = await scene('{}');
  await send(proxy.url, { host: 'evil.example.com', origin: 'http://evil.example.com' });
  expect(seen[0]?.headers).toMatchObject({ host: 'evil.example.com', origin: 'http://evil.example.com' });
});

test('[CONF-2] an event goes out before its stream ends, and a client that leaves is seen leaving', async () => {
  const { proxy, gone } = await scene('event: message\n\n');
  const { first, hangUp } = await send(proxy.url, {});
  expect(first).toBe('event: message\n\n');
  hangUp();
  await gone;
});
