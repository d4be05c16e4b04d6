// TokenHttp on node:http and node:https, a connection for each exchange. Follows nothing, keeps nothing, and puts no byte of a request or an
// answer into an error: both carry credentials.
import { request as plainRequest, type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as secureRequest } from 'node:https';
import { mayConnect } from '../features/fleet/model.ts';
import { AppError } from '../kernel/errors.ts';
import type { TokenAnswer, TokenHttp, TokenRequest } from '../kernel/ports.ts';
import { addressClass } from '../lib/ip-address.ts';
import { guardedLookup } from './guarded-lookup.ts';

/** The names and addresses of this very machine; a name that a resolver might answer differently for is none. */
const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

export function createTokenHttp(): TokenHttp {
  return {
    async request(request) {
      const url = checked(request.url);
      if (request.signal.aborted) throw cancelled();
      return exchange(request, url);
    },
  };
}

function checked(text: string): URL {
  const url = URL.parse(text);
  if (!url) throw refusedUrl('the URL of a token endpoint cannot be read');
  if (url.username !== '' || url.password !== '') throw refusedUrl(`the URL of ${url.host} holds a user name or password`);
  const kind = addressClass(hostOf(url));
  if (kind !== undefined && !mayConnect(kind, 'local'))
    throw refusedUrl(`${url.host} is no address of a server, or one that hands out credentials`);
  const isLoopback = loopback.test(url.hostname);
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback)) return url;
  throw refusedUrl(`${url.host} would be sent a credential in clear`);
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function exchange(request: TokenRequest, url: URL): Promise<TokenAnswer> {
  const { body, signal, timeoutMs, maxBytes } = request;
  return new Promise((resolve, reject) => {
    let settled = false;
    const deadline = setTimeout(() => fail(unreachable(url, `did not answer within ${timeoutMs} ms`)), timeoutMs);
    const outgoing = open(optionsOf(request, url), url);

    function settle(): boolean {
      if (settled) return false;
      settled = true;
      clearTimeout(deadline);
      signal.removeEventListener('abort', abort);
      return true;
    }

    function fail(error: AppError): void {
      if (settle()) reject(error);
      outgoing.destroy();
    }

    function abort(): void {
      fail(cancelled());
    }

    signal.addEventListener('abort', abort);
    outgoing.on('error', (error: NodeJS.ErrnoException) => fail(unreachable(url, inWords(error))));
    outgoing.on('response', (incoming) => {
      readAll(incoming, maxBytes).then(
        (text) => {
          if (settle()) resolve({ status: incoming.statusCode ?? 0, headers: headersOf(incoming), body: text });
          outgoing.destroy();
        },
        (why: Error) => fail(unreachable(url, why.message)),
      );
    });
    outgoing.end(body);
  });
}

function open(options: RequestOptions, url: URL): ClientRequest {
  if (url.protocol === 'http:') return plainRequest(options);
  // Said outright, so that no variable of the environment turns it off.
  return secureRequest({ ...options, rejectUnauthorized: true });
}

function optionsOf({ method, headers, body }: TokenRequest, url: URL): RequestOptions {
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  return {
    method,
    // Whatever the hosts file makes of the name, in clear it is spoken to this machine only.
    host: url.protocol === 'http:' && url.hostname === 'localhost' ? '127.0.0.1' : hostOf(url),
    // Discovery follows what others say: a name of theirs must not lead to where machines are given their credentials.
    lookup: guardedLookup('local'),
    port: url.port,
    path: `${url.pathname}${url.search}`,
    agent: false,
    headers: { 'user-agent': 'sallyport', ...headers, host: url.host, 'accept-encoding': 'identity', ...length },
  };
}

async function readAll(incoming: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) break;
      chunks.push(chunk);
    }
  } catch {
    throw new Error('broke off in the middle of its answer');
  }
  if (size > maxBytes) throw new Error(`answered with more than ${maxBytes} bytes`);
  if (!incoming.complete) throw new Error('broke off in the middle of its answer');
  return Buffer.concat(chunks).toString('utf8');
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  const joined: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) joined[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return joined;
}

function inWords({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ECONNREFUSED') return 'refuses connections';
  if (code === 'EADDRRULED') return 'has a name that leads to an address of no server, or to one that hands out credentials';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'has a name that cannot be resolved';
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'broke off the connection';
  if (code !== undefined && /^(?:ERR_TLS|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO)/.test(code)) {
    return `has a certificate that is not trusted (${code})`;
  }
  return `cannot be reached (${code ?? (message.includes('Parse Error') ? 'no HTTP' : 'unknown')})`;
}

function unreachable({ origin }: URL, what: string): AppError {
  return new AppError('unavailable', 'auth.unreachable', `${origin} ${what}`, {
    hint: 'Check that it is up and can be reached from here; the next call tries again.',
  });
}

function refusedUrl(message: string): AppError {
  return new AppError('invalid', 'auth.url_refused', message, { hint: 'Use https, or http to 127.0.0.1, [::1] or localhost.' });
}

function cancelled(): AppError {
  return new AppError('unavailable', 'auth.cancelled', 'nobody waits for this login any more');
}
