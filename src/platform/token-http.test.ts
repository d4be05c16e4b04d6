import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import type { TokenRequest } from '../kernel/ports.ts';
import { selfSigned } from '../../test/support/self-signed.ts';
import { createTokenHttp } from './token-http.ts';

const servers: Server[] = [];
afterEach(() => {
  vi.unstubAllEnvs();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function listening(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function urlOf(listener: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listening(createServer(listener))}/token`;
}

const request = (url: string, more: Partial<TokenRequest> = {}) =>
  createTokenHttp().request({
    url,
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: 'grünes geheimnis',
    signal: new AbortController().signal,
    timeoutMs: 2_000,
    maxBytes: 1_000,
    ...more,
  });

it('[MINT-1] sends method, headers and body as they are, and gives status, headers and body back', async () => {
  const url = await urlOf((incoming, answer) => {
    let body = '';
    incoming.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    incoming.on('end', () => {
      answer.writeHead(201, {
        'x-seen': `${incoming.method} ${incoming.headers['content-length']} ${incoming.headers['content-type']}`,
      });
      answer.end(body);
    });
  });
  const { status, headers, body } = await request(url);
  expect([status, headers['x-seen'], body]).toEqual([201, 'POST 17 text/plain', 'grünes geheimnis']);
});

it('[MINT-1] follows no redirect: the answer is the redirect, and nobody else is asked', async () => {
  const asked: (string | undefined)[] = [];
  const url = await urlOf((incoming, answer) => {
    asked.push(incoming.url);
    answer.writeHead(307, { location: '/elsewhere' }).end();
  });
  expect(await request(url)).toMatchObject({ status: 307, headers: { location: '/elsewhere' } });
  expect(asked).toEqual(['/token']);
});

it.each([
  'http://example.com/token',
  'http://127.0.0.1.example.com/token',
  'http://localhost.example.com/token',
  'ftp://127.0.0.1/token',
  'https://user:word@example.com/',
  'http://10.0.0.1/',
  'no url',
])('[MINT-1] sends nothing to %s', async (url) => {
  await expect(request(url)).rejects.toMatchObject({ code: 'auth.url_refused', kind: 'invalid' });
});

it('[MINT-1] trusts no certificate that nobody vouches for, whatever the environment says', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  let asked = 0;
  const server = createSecureServer(selfSigned(), (_incoming, answer) => {
    asked += 1;
    answer.end('{}');
  });
  const port = await listening(server);
  const refused = await request(`https://localhost:${port}/`).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'auth.unreachable', message: expect.stringContaining('certificate') as string });
  expect(asked).toBe(0);
});

it('[MINT-1] gives up at its deadline, also in the middle of a body that trickles', async () => {
  const mute = await urlOf(() => {});
  await expect(request(mute, { timeoutMs: 60 })).rejects.toMatchObject({ code: 'auth.unreachable' });
  const slow = await urlOf((_incoming, answer) => {
    const timer = setInterval(() => answer.write('.'), 20);
    answer.on('close', () => clearInterval(timer));
  });
  await expect(request(slow, { timeoutMs: 150 })).rejects.toThrow('did not answer within 150 ms');
});

it('[MINT-1] takes no answer that is too long or cut short', async () => {
  const long = await urlOf((_incoming, answer) => answer.end('x'.repeat(1_001)));
  await expect(request(long)).rejects.toThrow('more than 1000 bytes');
  const exact = await urlOf((_incoming, answer) => answer.end('x'.repeat(1_000)));
  expect((await request(exact)).body).toHaveLength(1_000);
  const cut = await urlOf((_incoming, answer) => {
    answer.writeHead(200, { 'content-length': '100' });
    answer.write('half');
    setTimeout(() => answer.destroy(), 20);
  });
  await expect(request(cut)).rejects.toThrow('broke off');
});

it('[MINT-1] ends when nobody waits any more', async () => {
  const stop = new AbortController();
  const url = await urlOf(() => stop.abort());
  await expect(request(url, { signal: stop.signal })).rejects.toMatchObject({ code: 'auth.cancelled' });
  await expect(request(url, { signal: stop.signal })).rejects.toMatchObject({ code: 'auth.cancelled' });
});

it('[MINT-1] has no word of a request in what it says of a failure', async () => {
  const url = await urlOf((_incoming, answer) => answer.destroy());
  const failed = (await request(`${url}?code=geheim`).catch((error: unknown) => error)) as Error & { hint: string };
  expect(failed).toMatchObject({ code: 'auth.unreachable' });
  expect(`${failed.message} ${failed.hint}`).not.toMatch(/geheim/);
  expect(failed.hint).toContain('Check');
});

it.each([
  'https://169.254.169.254/',
  'https://[fd00:ec2::254]/',
  'https://[::ffff:169.254.169.254]/',
  'https://2852039166/',
  'https://0.0.0.0/',
])('[SSRF-4] %s is asked nothing, whoever named it', async (url) => {
  await expect(request(url)).rejects.toMatchObject({
    code: 'auth.url_refused',
    message: expect.stringContaining('credentials') as string,
  });
});
