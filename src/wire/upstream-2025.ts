// The client's half of the MCP handshake of the 2025 revisions (spec 2025-11-25, basic/lifecycle), towards an upstream. It declares no
// client capability: a shared upstream has no single session behind it to sample, elicit or list roots for.
import { AppError } from '../kernel/errors.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { Peer } from './peer.ts';

const offered = '2025-11-25';
/** 2024-11-05 as well: servers in the field answer so, and nothing we send differs. */
const accepted: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const maxShown = 200;

export interface Handshake {
  readonly protocolVersion: string;
  readonly capabilities: JsonObject;
  readonly serverInfo: JsonObject;
}

/** `agreed` runs when the revision is settled, before anything else is sent. Throws `fleet.protocol` when the answer is no initialize result or an unknown revision; else as `Peer.request` does. */
export async function initialize(
  peer: Peer,
  client: { readonly name: string; readonly version: string },
  options: { readonly signal: AbortSignal; readonly timeoutMs: number; readonly agreed?: (protocolVersion: string) => void },
): Promise<Handshake> {
  const params = JSON.stringify({ protocolVersion: offered, capabilities: {}, clientInfo: client });
  const reply = await peer.request('initialize', params, options);
  if (reply.kind === 'error') throw refusal(`The upstream refused initialize with error ${reply.code}: ${messageOf(reply.json)}`);
  const { protocolVersion, capabilities, serverInfo } = reply.value;
  if (typeof protocolVersion !== 'string' || !accepted.includes(protocolVersion)) {
    throw refusal(`The upstream speaks MCP ${shown(protocolVersion)}; this gateway speaks ${accepted.join(', ')}.`);
  }
  options.agreed?.(protocolVersion);
  peer.notify('notifications/initialized');
  return { protocolVersion, capabilities: objectOr(capabilities), serverInfo: objectOr(serverInfo) };
}

function messageOf(error: string): string {
  const { message } = JSON.parse(error) as { message: string };
  return message.slice(0, maxShown);
}

function refusal(message: string): AppError {
  return new AppError('unavailable', 'fleet.protocol', message, {
    hint: 'Use a version of the server that speaks one of these revisions.',
  });
}

function shown(value: Json | undefined): string {
  return value === undefined ? 'of no version' : JSON.stringify(value).slice(0, maxShown);
}

function objectOr(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
