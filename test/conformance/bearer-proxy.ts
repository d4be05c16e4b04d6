// A loopback proxy for a client that cannot authenticate: adds an agent's token, and says the gateway's own name where the client said
// the proxy's. Everything else goes through as it is, streams and lost connections included. For tests only.
import { createServer, request, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface BearerProxy {
  readonly url: string;
  close(): void;
}

export async function openBearerProxy(target: string, token: string): Promise<BearerProxy> {
  const gateway = new URL(target);
  const server = createServer((incoming, response) => {
    const headers = translate(incoming.headers, `127.0.0.1:${port}`, gateway.host);
    const outgoing = request(gateway, {
      method: incoming.method,
      agent: false,
      headers: { ...headers, authorization: `Bearer ${token}` },
    });
    outgoing.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.on('error', () => response.destroy());
      answer.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${gateway.pathname}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A stranger's Host or Origin stays: to refuse it is what the gateway is tried for. */
function translate(headers: IncomingHttpHeaders, own: string, gateway: string): IncomingHttpHeaders {
  const { connection: _, host, origin, ...rest } = headers;
  return {
    ...rest,
    host: host === own ? gateway : host,
    ...(origin === undefined ? {} : { origin: origin === `http://${own}` ? `http://${gateway}` : origin }),
  };
}
