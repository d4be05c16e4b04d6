// The client's half of the MCP handshake of the 2025 revisions (spec 2025-11-25, basic/lifecycle), towards an upstream. It declares what the
// one client behind the connection can do; where there is none, nothing: nobody could sample, elicit or list roots.
import type { ClientHost } from '../kernel/client-host.ts';
import { AppError } from '../kernel/errors.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { UpstreamReply } from '../kernel/ports.ts';
import type { Peer } from './peer.ts';

const offered = '2025-11-25';
/** 2024-11-05 as well: servers in the field answer so, and nothing we send differs. */
const accepted: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const maxShown = 200;

export interface Handshake {
  readonly protocolVersion: string;
  readonly capabilities: JsonObject;
  readonly serverInfo: JsonObject;
  readonly instructions?: string;
}

export interface HandshakeOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** The one client the connection is for. */
  readonly host?: ClientHost | undefined;
  /** What is said where there is none. */
  readonly declares?: JsonObject | undefined;
  /** Runs when the revision is settled, before anything else is sent. */
  readonly agreed?: (protocolVersion: string) => void;
}

/** `info` is what is said where there is no client. Throws `fleet.protocol` when the answer is no initialize result or an unknown revision; else as `Peer.request` does. */
export async function initialize(
  peer: Peer,
  info: { readonly name: string; readonly version: string },
  options: HandshakeOptions,
): Promise<Handshake> {
  const { host, declares = {}, signal, timeoutMs } = options;
  const params = JSON.stringify({
    protocolVersion: offered,
    capabilities: relayed(host?.capabilities ?? declares),
    clientInfo: host?.info ?? info,
  });
  const reply = await peer.request('initialize', params, { signal, timeoutMs });
  if (reply.kind === 'error') throw refused(reply);
  const { protocolVersion, capabilities, serverInfo, instructions } = reply.value;
  if (typeof protocolVersion !== 'string' || !accepted.includes(protocolVersion)) {
    throw refusal(`The upstream speaks MCP ${shown(protocolVersion)}; this gateway speaks ${accepted.join(', ')}.`);
  }
  options.agreed?.(protocolVersion);
  peer.notify('notifications/initialized');
  return {
    protocolVersion,
    capabilities: objectOr(capabilities),
    serverInfo: objectOr(serverInfo),
    ...(typeof instructions === 'string' ? { instructions } : {}),
  };
}

/** As the client declared them, but for tasks, which no upstream can ask a client to keep through this gateway. */
function relayed(declared: JsonObject): JsonObject {
  const { tasks: _, ...capabilities } = declared;
  return capabilities;
}

/** `data.rpc` is the error object as the upstream wrote it. */
function refused({ code, json }: Extract<UpstreamReply, { kind: 'error' }>): AppError {
  return refusal(`The upstream refused initialize with error ${code}: ${messageOf(json)}`, { rpc: JSON.parse(json) as JsonObject });
}

function messageOf(error: string): string {
  const { message } = JSON.parse(error) as { message: string };
  return message.slice(0, maxShown);
}

function refusal(message: string, data: JsonObject = {}): AppError {
  return new AppError('unavailable', 'fleet.protocol', message, {
    hint: 'Use a version of the server that speaks one of these revisions.',
    data,
  });
}

function shown(value: Json | undefined): string {
  return value === undefined ? 'of no version' : JSON.stringify(value).slice(0, maxShown);
}

function objectOr(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
