// The first question of a TCP door: was it meant for us? Exact Host against DNS rebinding, exact Origin against pages of other sites
// (MCP transports, "Security Warning"). There is no CORS: a browser page is served only from an origin somebody configured.
import type { DoorRefusal } from './http-exchange.ts';

export interface GuardedHeaders {
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
}

export interface Guard {
  /** `undefined` when the request may go on. `hostCount` is how many Host headers it has; `malformed` is RFC 9112 §3.2: more than one. */
  check(headers: GuardedHeaders, hostCount: number): DoorRefusal | 'malformed' | undefined;
}

/**
 * `hosts`: names without a port stand for this `port` (a bare name too where that is 80), entries with a port are taken as they are.
 * IPv6 addresses stand in brackets. `origins`: whole origins such as `https://console.example`. A request without Origin passes, and one
 * whose Origin is the very door it is addressed to (the MCP conformance suite asks for that): no other page has that name.
 */
export function createGuard(port: number, hosts: readonly string[], origins: readonly string[]): Guard {
  const authorities = new Set(hosts.flatMap((host) => authoritiesOf(host.toLowerCase(), port)));
  const known = new Set(origins);
  return {
    check({ host = '', origin }, hostCount) {
      if (!authorities.has(host) && !authorities.has(host.toLowerCase())) return { reason: 'wrong_host', host: shown(host) };
      if (hostCount !== 1) return 'malformed';
      if (origin !== undefined && !known.has(origin) && origin !== `http://${host.toLowerCase()}`)
        return { reason: 'wrong_origin', origin: shown(origin) };
      return undefined;
    },
  };
}

function authoritiesOf(host: string, port: number): string[] {
  if (/:\d+$/.test(host)) return [host];
  return port === 80 ? [host, `${host}:80`] : [`${host}:${port}`];
}

/** A stranger's text, fit for a record. */
function shown(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, '?').slice(0, 128);
}
