// What every request of 2026-07-28 says of itself in `params._meta` (basic, "Per-request protocol fields"): the revision it is written
// in and what its client can do. Claims, all of them: who asks follows from the token alone.
import { logLevels, type ClientFacts } from '../kernel/dispatch.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import { isObject } from './jsonrpc.ts';

export const metaKey = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
} as const;

/** The revision a message claims, of whatever type; `undefined` when it claims none and so is of an earlier one. */
export function claimedVersion(params: JsonObject | undefined): Json | undefined {
  const meta = params?.['_meta'];
  return isObject(meta) ? meta[metaKey.protocolVersion] : undefined;
}

/** What is wrong with the envelope, for its sender; `undefined` when nothing is. The revision itself is not judged. */
export function envelopeFault(params: JsonObject | undefined): string | undefined {
  const meta = params?.['_meta'];
  if (!isObject(meta)) {
    return `Every request of this revision carries "_meta" in its params, with "${metaKey.protocolVersion}" and "${metaKey.clientCapabilities}".`;
  }
  if (typeof meta[metaKey.protocolVersion] !== 'string') return `"_meta" needs "${metaKey.protocolVersion}", a string.`;
  if (!isObject(meta[metaKey.clientCapabilities]))
    return `"_meta" needs "${metaKey.clientCapabilities}", an object; {} says that the client can do nothing special.`;
  const info = meta[metaKey.clientInfo];
  if (info !== undefined && !(isObject(info) && typeof info['name'] === 'string' && typeof info['version'] === 'string'))
    return `In "_meta", "${metaKey.clientInfo}" must be an object with "name" and "version", or be left out.`;
  const level = meta[metaKey.logLevel];
  if (level !== undefined && !logLevels.some((known) => known === level))
    return `In "_meta", "${metaKey.logLevel}" must be one of ${logLevels.join(', ')}, or be left out.`;
  return undefined;
}

/** Takes the envelope off a `_meta` without fault: what it says, and what else was in there. */
export function openEnvelope(meta: JsonObject): { readonly client: ClientFacts; readonly others: JsonObject } {
  const {
    [metaKey.protocolVersion]: _,
    [metaKey.clientCapabilities]: capabilities,
    [metaKey.clientInfo]: info,
    [metaKey.logLevel]: logLevel,
    ...others
  } = meta;
  return {
    client: {
      capabilities: isObject(capabilities) ? capabilities : {},
      info: isObject(info) ? info : undefined,
      logLevel: typeof logLevel === 'string' ? logLevel : undefined,
    },
    others,
  };
}
