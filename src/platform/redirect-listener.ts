// Where a browser is sent back to after a login: one path on 127.0.0.1 that waits for one answer with the right `state` (RFC 8252 §7.3).
// Anybody on this machine can reach it, so whatever else comes is turned away and changes nothing. Keeps nothing.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AppError } from '../kernel/errors.ts';

export interface RedirectListener {
  /** `http://127.0.0.1:PORT/callback`. */
  readonly uri: string;
  /** What the browser brought back with this `state`; the listener is closed then. Rejects with `auth.login_expired` after `timeoutMs`. */
  wait(state: string, timeoutMs: number): Promise<URLSearchParams>;
  close(): void;
}

const path = '/callback';
const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  connection: 'close',
} as const;

/** `uri`: one of an earlier login, whose port is taken again if it is free. Rejects when no port is to be had. */
export async function listenForRedirect(uri?: string): Promise<RedirectListener> {
  const server = createServer({ maxHeaderSize: 16_384, headersTimeout: 5_000, requestTimeout: 5_000 });
  const port = uri === undefined ? undefined : portOf(uri);
  server.listen(port ?? 0, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    if (port === undefined) throw error;
    // Somebody else has it now: another port, and with it another registration.
    return listenForRedirect();
  }
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  let expected: { readonly state: string; readonly found: (back: URLSearchParams) => void } | undefined;

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const url = URL.parse(`http://${address}${request.url ?? ''}`);
    const mine = request.method === 'GET' && request.headers.host === address && url?.pathname === path;
    const back = url?.searchParams;
    if (!mine || back === undefined || expected === undefined || back.get('state') !== expected.state) {
      answer(response, 400, 'This is not the login that is waited for.');
      return;
    }
    answer(
      response,
      200,
      back.has('error') ? 'The login did not succeed. Look at the terminal.' : 'Done. Go back to the terminal.',
    );
    expected.found(back);
  });

  function close(): void {
    server.close();
    server.closeIdleConnections();
  }

  return {
    uri: `http://${address}${path}`,
    close,
    async wait(state, timeoutMs) {
      const { promise, resolve, reject } = Promise.withResolvers<URLSearchParams>();
      expected = { state, found: resolve };
      const timer = setTimeout(() => reject(expired(timeoutMs)), timeoutMs);
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
        expected = undefined;
        close();
      }
    },
  };
}

function portOf(uri: string): number | undefined {
  const url = URL.parse(uri);
  return url?.hostname === '127.0.0.1' && url.pathname === path && url.port !== '' ? Number(url.port) : undefined;
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, pageHeaders).end(`<!doctype html><meta charset="utf-8"><title>Sallyport</title><p>${text}</p>`);
}

function expired(timeoutMs: number): AppError {
  return new AppError(
    'unavailable',
    'auth.login_expired',
    `No browser came back within ${Math.round(timeoutMs / 60_000)} minutes.`,
    {
      hint: 'Start it again, or log in on another device: sallyport auth login NAME --device',
    },
  );
}
