// What every dialect of MCP over HTTP is given to open a session with an upstream.
import type { ClientHost } from '../kernel/client-host.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Clock } from '../kernel/ports.ts';
import type { HttpClient, Route } from './http-exchange.ts';
import type { WithLogin } from './http-login.ts';

export interface HttpDeps {
  readonly client: HttpClient;
  readonly route: Route;
  readonly clock: Clock;
  /** Told to upstreams as `clientInfo`. */
  readonly info: { readonly name: string; readonly version: string };
  /** Fixed ones, names and values in turn. */
  readonly headers: readonly string[];
  /** Those of the login are added to each request. */
  readonly withLogin: WithLogin;
  /** Of one JSON answer or event. */
  readonly maxBytes: number;
}

export interface HttpOpening {
  readonly signal: AbortSignal;
  /** For the whole opening. */
  readonly timeoutMs: number;
  /** Wait for notices as well. */
  readonly listens: boolean;
  /** The one client the session is for. */
  readonly host?: ClientHost | undefined;
  /** Said where there is none; see UpstreamOpening. */
  readonly declares?: JsonObject | undefined;
}

/** Methods that change nothing, whoever answers them: they may be sent twice. */
export const harmless: ReadonlySet<string> = new Set(['ping', 'tools/list', 'server/discover']);

/** Servers that take the handshake at its word refuse what overtakes `notifications/initialized`; one that lets it hang is not waited for. */
export const handshakeMs = 2_000;
