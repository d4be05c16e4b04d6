// What the head of a request to the agent door says: which tools, which token, which formats. Reads, never answers.
import type { ToolScope } from '../../kernel/dispatch.ts';
import type { HttpHead } from '../../wire/http-exchange.ts';
import type { Accepted } from './reply-slot.ts';

type Headers = HttpHead['headers'];

const everything: ToolScope = { kind: 'all' };
const gate: ToolScope = { kind: 'toolset', toolset: 'gate' };
const upstreamPath = '/mcp/upstreams/';
const upstreamName = /^[a-z0-9][a-z0-9_-]{0,127}$/;

/** Nothing for a path that is not served. Whether an upstream of that name exists is not said here. */
export function scopeOf(path: string): ToolScope | undefined {
  if (path === '/mcp') return everything;
  if (path === '/mcp/gate') return gate;
  if (!path.startsWith(upstreamPath)) return undefined;
  const upstream = path.slice(upstreamPath.length);
  return upstreamName.test(upstream) ? { kind: 'upstream', upstream } : undefined;
}

export function single(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** RFC 6750 §2.1; the scheme is case-insensitive. */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined || authorization.slice(0, 7).toLowerCase() !== 'bearer ') return undefined;
  const token = authorization.slice(7).trim();
  return token === '' ? undefined : token;
}

/** A missing Accept takes everything (RFC 9110 §12.5.1). */
export function acceptedBy(accept: string | undefined): Accepted {
  if (accept === undefined) return both;
  const text = accept.toLowerCase();
  const any = text.includes('*/*');
  const json = any || text.includes('application/json') || text.includes('application/*');
  const stream = any || text.includes('text/event-stream') || text.includes('text/*');
  return json && stream ? both : { json, stream };
}

const both: Accepted = { json: true, stream: true };

/** `application/json`, with no charset but UTF-8 and no content encoding. */
export function isJson(headers: Headers): boolean {
  const encoding = single(headers, 'content-encoding');
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') return false;
  const type = single(headers, 'content-type');
  if (type === 'application/json') return true;
  const [media = '', ...parameters] = (type ?? '').toLowerCase().split(';');
  return media.trim() === 'application/json' && parameters.every((parameter) => /^\s*(charset="?utf-8"?)?\s*$/.test(parameter));
}
