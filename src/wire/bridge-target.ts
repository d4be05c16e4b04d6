// Where the bridge's daemon is, and what its answers hold: addresses, whole bodies, sessions and errors. Knows no order of events.
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { JsonObject } from '../kernel/json.ts';
import { isObject } from './jsonrpc.ts';

/** `url` is the whole address of the endpoint; a socket is asked for `path`, `/mcp` unless said otherwise. */
export type DaemonAddress = { readonly url: string } | { readonly socketPath: string; readonly path?: string };

/** Why a message could not be delivered or answered, as the error to give to who sent it. */
export interface LinkFault {
  readonly code: number;
  readonly message: string;
}

/** How to reach the daemon. */
export interface Target {
  readonly request: typeof httpRequest;
  readonly agent: HttpAgent;
  readonly options: RequestOptions;
}

export function targetOf(address: DaemonAddress): Target {
  const pooling = { keepAlive: true };
  if ('socketPath' in address) {
    const { socketPath, path = '/mcp' } = address;
    return { request: httpRequest, agent: new HttpAgent(pooling), options: { socketPath, path } };
  }
  const { protocol, hostname, port, pathname } = new URL(address.url);
  const options: RequestOptions = { hostname: hostname.replace(/^\[|\]$/g, ''), port, path: pathname };
  if (protocol === 'https:') return { request: httpsRequest, agent: new HttpsAgent(pooling), options };
  return { request: httpRequest, agent: new HttpAgent(pooling), options };
}

export async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Lists that may change, as capabilities and notices spell them. */
export const changingLists = ['tools', 'prompts', 'resources'] as const;

export interface Handshake {
  readonly id: string;
  readonly version: string;
  /** Of which lists the client was told that it would hear when they change. */
  readonly changing: readonly (typeof changingLists)[number][];
}

/** The session an answer to initialize gives, if it gives one. */
export function handshakeIn({ headers }: IncomingMessage, body: string): Handshake | undefined {
  const id = headers['mcp-session-id'];
  const { protocolVersion: version, capabilities } = objectIn(messageIn(body)?.['result']) ?? {};
  if (typeof id !== 'string' || typeof version !== 'string') return undefined;
  const declared = objectIn(capabilities);
  return { id, version, changing: changingLists.filter((list) => objectIn(declared?.[list])?.['listChanged'] === true) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function objectIn(value: unknown): JsonObject | undefined {
  return isObject(value as JsonObject) ? (value as JsonObject) : undefined;
}

/** The object a text is, if it is one. */
export function messageIn(text: string): JsonObject | undefined {
  return objectIn(parsed(text));
}

/** The JSON-RPC error a body holds, if it does. */
export function errorIn(body: string): LinkFault | undefined {
  const error = objectIn(messageIn(body)?.['error']);
  const { code, message } = error ?? {};
  return typeof code === 'number' && typeof message === 'string' ? { code, message } : undefined;
}
