// Methods that are in no revision of MCP: an upstream's own, which travel to it as they are at its own endpoint. What any revision
// knows is none of them, served here or not, so that nothing of the protocol slips past the way it is meant to take.
import type { JsonObject } from '../kernel/json.ts';
import type { SharedRequest } from './era.ts';
import { readRest } from './tool-requests.ts';

/** Methods of requests of 2024-11-05 to 2026-07-28, both directions. */
const ofProtocol = new Set([
  'completion/complete',
  'elicitation/create',
  'initialize',
  'logging/setLevel',
  'ping',
  'prompts/get',
  'prompts/list',
  'resources/list',
  'resources/read',
  'resources/subscribe',
  'resources/templates/list',
  'resources/unsubscribe',
  'roots/list',
  'sampling/createMessage',
  'server/discover',
  'subscriptions/listen',
  'tools/call',
  'tools/list',
]);

/** Tasks are of 2025-11-25 and an extension that still grows, notifications are no requests, `rpc.` is JSON-RPC's own (2.0, §4). */
const reserved = ['tasks/', 'notifications/', 'rpc.'];

export function isVendorMethod(method: string): boolean {
  return method !== '' && !ofProtocol.has(method) && !reserved.some((prefix) => method.startsWith(prefix));
}

/** Throws AppError `wire.bad_params`. */
export function readVendorRequest(method: string, params: JsonObject): Extract<SharedRequest, { kind: 'relay' }> {
  return { kind: 'relay', method, target: { kind: 'method', name: method }, args: undefined, ...readRest(params) };
}
