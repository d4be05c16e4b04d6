// The client's half of MCP 2026-07-28 towards an upstream: every request carries its own envelope and, over HTTP, repeats parts of itself in
// headers; there is no session. Shows the upstream the caller's capabilities, never more. Knows no connection.
import { AppError } from '../kernel/errors.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { UpstreamClient, UpstreamReply, UpstreamRequestOptions, UpstreamSubject } from '../kernel/ports.ts';
import { encodeHeaderValue } from './header-value.ts';
import { isObject, rpcCode } from './jsonrpc.ts';
import { mayMirror, mirroredParams, paramHeaders, type MirroredParam } from './mirrored-params.ts';
import { metaKey } from './request-envelope.ts';
import { withMeta } from './request-meta.ts';

export const modernVersion = '2026-07-28';

export interface Discovery {
  readonly protocolVersion: string;
  readonly capabilities: JsonObject;
  readonly serverInfo: JsonObject;
  readonly instructions?: string;
}

/** `undefined` when the answer does not say that the upstream speaks this revision. */
export function readDiscovery(reply: UpstreamReply): Discovery | undefined {
  if (reply.kind === 'error') return undefined;
  const { supportedVersions, capabilities, instructions, _meta: meta } = reply.value;
  if (!Array.isArray(supportedVersions) || !supportedVersions.includes(modernVersion)) return undefined;
  return {
    protocolVersion: modernVersion,
    capabilities: objectOr(capabilities),
    serverInfo: objectOr(isObject(meta) ? meta[metaKey.serverInfo] : undefined),
    ...(typeof instructions === 'string' ? { instructions } : {}),
  };
}

/**
 * Does an error object that answers `initialize` say that there is no such method, or that this revision is spoken instead? Either is what a
 * server of this revision alone has to say to a client of an earlier one ("Version Negotiation").
 */
export function namesRevision({ code, message, data }: JsonObject): boolean {
  if (code === rpcCode.methodNotFound || code === rpcCode.unsupportedVersion) return true;
  return JSON.stringify([message ?? '', data ?? '']).includes(modernVersion);
}

/** A refusal of a revision that names ours as supported all the same: the same request is worth a second try ("Version Negotiation"). */
export function invitesRetry(reply: UpstreamReply): boolean {
  if (reply.kind !== 'error' || reply.code !== rpcCode.unsupportedVersion) return false;
  const { data } = JSON.parse(reply.json) as { readonly data?: Json };
  const supported = isObject(data) ? data['supported'] : undefined;
  return Array.isArray(supported) && supported.includes(modernVersion);
}

/** Writes requests as this revision wants them. `info` is what is said where the caller says nothing of itself. */
export interface ModernWriter {
  params(params: string | undefined, client: UpstreamClient | undefined): string;
  /** Of a request: what its caller said with it, but no more than the client behind it may be asked. */
  requestParams(params: string | undefined, options: Pick<UpstreamRequestOptions, 'client' | 'host'>): string;
  /** Names and values in turn. */
  headers(method: string, subject: UpstreamSubject | undefined): readonly string[];
}

const rememberedTools = 4_096;

export function createModernWriter(info: { readonly name: string; readonly version: string }): ModernWriter {
  const own = envelope({ capabilities: {}, info });
  const mirrored = new Map<string, readonly MirroredParam[]>();
  const written = new WeakMap<JsonObject, Pick<UpstreamClient, 'info' | 'logLevel'> & { readonly text: string }>();

  function envelope({ capabilities, info: said, logLevel }: UpstreamClient): string {
    const meta = {
      [metaKey.protocolVersion]: modernVersion,
      [metaKey.clientCapabilities]: capabilities,
      [metaKey.clientInfo]: said ?? info,
      ...(logLevel === undefined ? {} : { [metaKey.logLevel]: logLevel }),
    };
    return JSON.stringify(meta).slice(1, -1);
  }

  /** What was written for a client is kept with what it can do: a session asks many times. */
  function spoken(client: UpstreamClient | undefined, host: UpstreamRequestOptions['host']): string {
    const said = { capabilities: (host ?? client)?.capabilities ?? {}, info: (host ?? client)?.info, logLevel: client?.logLevel };
    const known = written.get(said.capabilities);
    if (known?.info === said.info && known?.logLevel === said.logLevel && known !== undefined) return known.text;
    const text = envelope(said);
    written.set(said.capabilities, { info: said.info, logLevel: said.logLevel, text });
    return text;
  }

  function mirroredBy(definition: string): readonly MirroredParam[] {
    if (!mayMirror(definition)) return [];
    let params = mirrored.get(definition);
    if (params === undefined) {
      params = mirroredParams((JSON.parse(definition) as JsonObject)['inputSchema']);
      if (mirrored.size >= rememberedTools) mirrored.clear();
      mirrored.set(definition, params);
    }
    return params;
  }

  return {
    params: (params, client) => withMeta(params, client === undefined ? own : envelope(client)),
    requestParams: (params, { client, host }) =>
      withMeta(params, client === undefined && host === undefined ? own : spoken(client, host)),
    headers(method, subject) {
      const standard = ['mcp-method', method];
      if (subject === undefined) return standard;
      const named = [...standard, 'mcp-name', encodeHeaderValue(subject.name)];
      const repeated = mirroredBy(subject.definition);
      return repeated.length === 0 ? named : [...named, ...Object.entries(paramHeaders(repeated, subject.args)).flat()];
    },
  };
}

/**
 * Throws `fleet.input_required` for a result that is not the last word, where nobody has a way to go on. Callers of this revision get it as
 * it is and answer it themselves; where a caller can be asked in mid-call, what an upstream needs is asked on its behalf.
 */
export function assertFinal(reply: UpstreamReply, { client, host }: Pick<UpstreamRequestOptions, 'client' | 'host'>): void {
  if (client !== undefined || reply.kind === 'error') return;
  const { resultType } = reply.value;
  if (resultType === undefined || resultType === 'complete') return;
  if (resultType === 'input_required' && host !== undefined) return;
  const what = resultType === 'input_required' ? 'asks for further input' : `answered with a result of type ${shown(resultType)}`;
  throw new AppError('unavailable', 'fleet.input_required', `The upstream ${what}, which a client of MCP 2025 cannot give it.`, {
    hint: 'Call the tool with everything it needs in its arguments, or from a client that speaks MCP 2026-07-28.',
    data: { sent: true },
  });
}

function shown(value: Json): string {
  return JSON.stringify(value).slice(0, 64);
}

function objectOr(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}
