// Whether the head of a 2026-07-28 request is in order: its envelope, and the headers that repeat parts of the body for proxies
// (Streamable HTTP, "Request Metadata"). Two readers of one request must read the same, so a difference is refused, never resolved.
import type { JsonObject } from '../kernel/json.ts';
import { decodeHeaderValue } from './header-value.ts';
import { rpcCode, type Message } from './jsonrpc.ts';
import { claimedVersion, envelopeFault } from './request-envelope.ts';

/** Why a request is not served. `status` is the one HTTP has to answer with. */
export interface Refusal {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly data?: JsonObject;
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;
type Request = Extract<Message, { kind: 'request' }>;

/** The param that `Mcp-Name` repeats, by method ("Standard Request Headers"). */
const namedBy = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  // SEP-2663, "Streamable HTTP: Routing Headers".
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/** `stateless` are the revisions served request by request, `all` those served at all, newest first. */
export function headFault(
  request: Request,
  headers: Headers,
  stateless: readonly string[],
  all: readonly string[],
): Refusal | undefined {
  const { method, params } = request;
  const version = claimedVersion(params);
  if (typeof version !== 'string') return badEnvelope(envelopeFault(params) ?? '');
  const header = headers['mcp-protocol-version'];
  if (header !== version) return mismatch('MCP-Protocol-Version', header, version);
  if (!stateless.includes(version)) return unsupported(version, all);
  const fault = envelopeFault(params);
  if (fault !== undefined) return badEnvelope(fault);
  if (headers['mcp-method'] !== method) return mismatch('Mcp-Method', headers['mcp-method'], method);
  return nameFault(method, params ?? {}, headers['mcp-name']);
}

/** A body without the name is for the reader of the method to refuse. */
function nameFault(method: string, params: JsonObject, header: Headers[string]): Refusal | undefined {
  const field = namedBy.get(method);
  const name = field === undefined ? undefined : params[field];
  if (typeof name !== 'string') return undefined;
  const decoded = typeof header === 'string' ? decodeHeaderValue(header) : undefined;
  return decoded === name ? undefined : mismatch('Mcp-Name', header, name);
}

/** The same refusal for what tool arguments mirror. */
export function headerMismatch(message: string): Refusal {
  return { status: 400, code: rpcCode.headerMismatch, message };
}

function mismatch(name: string, header: Headers[string], body: string): Refusal {
  if (header === undefined) return headerMismatch(`The header ${name} is missing. It must say what the body says: ${shown(body)}.`);
  return headerMismatch(`The header ${name} says ${shown(String(header))}, the body says ${shown(body)}. Send the same in both.`);
}

function badEnvelope(message: string): Refusal {
  return { status: 400, code: rpcCode.invalidParams, message };
}

function unsupported(requested: string, all: readonly string[]): Refusal {
  const supported = all.filter((version) => version !== requested);
  const message = all.includes(requested)
    ? `Revision ${requested} is served in sessions: begin with initialize, without a revision in "_meta".`
    : `Revision ${shown(requested)} is not served here.`;
  return { status: 400, code: rpcCode.unsupportedVersion, message, data: { supported, requested: requested.slice(0, maxShown) } };
}

const maxShown = 128;

function shown(text: string): string {
  return JSON.stringify(text.length > maxShown ? `${text.slice(0, maxShown)}…` : text);
}
