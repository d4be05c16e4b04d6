// Requests on their way to a member: params written, the definition held to what was decided on, the answer with what it says of itself.
// Knows no state of a member and no agent.
import type { ClientHost } from '../../kernel/client-host.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { UpstreamClient } from '../../kernel/ports.ts';
import type { CatalogTool } from './model.ts';
import { quarantined } from './refusals.ts';
import type { RosterEntry } from './roster.ts';

export interface UpstreamCall {
  /** Of the caller: an upstream that keeps state for each of its clients has one of its own sessions for it. */
  readonly session: string;
  /** What the caller said of itself with the request; absent for those of 2025, who said it when their session began. */
  readonly client?: UpstreamClient | undefined;
  /** Whom the upstream may ask back about this request. */
  readonly host?: ClientHost | undefined;
  readonly tool: CatalogTool;
  /** Params to send, `name` already the upstream's own; JSON text, re-emitted from what was decided. Progress token added here. */
  readonly args: JsonObject | undefined;
  readonly rest: JsonObject;
  readonly signal: AbortSignal;
  readonly onProgress: ((note: JsonObject) => void) | undefined;
  /** Asked when everything is ready, in the same tick as the sending; what it throws is the answer, and nothing was sent. */
  readonly beforeSend?: () => void;
}

/** A request for something else than a tool, with params as they are to be sent. */
export interface UpstreamErrand extends Pick<UpstreamCall, 'session' | 'client' | 'host' | 'signal' | 'onProgress' | 'beforeSend'> {
  readonly upstream: string;
  readonly method: string;
  readonly params: JsonObject;
  /** What headers repeat of it where the upstream wants that (2026-07-28, `Mcp-Name`). */
  readonly name: string | undefined;
  /** How long the answer may take where that is not the deadline of a call. */
  readonly timeoutMs?: number;
}

export type UpstreamAnswer =
  /** JSON text of the result, one validated slice of the upstream's bytes, and the same parsed. */
  | { readonly kind: 'result'; readonly json: string; readonly value: JsonObject; readonly isError: boolean }
  /** JSON text of the JSON-RPC error object the upstream answered with. */
  | { readonly kind: 'error'; readonly json: string; readonly code: number };

export interface UpstreamCalls {
  /** Starts the member when needed; throws the `fleet.*` codes. Rejects within the call deadline, always. */
  call(call: UpstreamCall): Promise<UpstreamAnswer>;
  /** The same for everything else; there is no definition to hold it to. */
  relay(errand: UpstreamErrand): Promise<UpstreamAnswer>;
}

type MemberEntry = Extract<RosterEntry, { kind: 'member' }>;

/** `memberOf` throws for an upstream that is not to be called. */
export function createUpstreamCalls(memberOf: (upstream: string) => MemberEntry): UpstreamCalls {
  return {
    async call({ session, client, tool, args, rest, signal, onProgress, beforeSend }) {
      const { member, tools, accepted } = memberOf(tool.upstream);
      const verify = (): void => {
        const now = tools.resolve(tool.tool);
        // A start or a change in between may have brought another definition than the one that was decided on.
        if (now.kind !== 'tool' || now.tool.hash !== tool.hash) throw quarantined(tool.upstream, tool.tool);
        beforeSend?.();
      };
      const params = JSON.stringify({ ...rest, name: tool.tool, ...(args === undefined ? {} : { arguments: args }) });
      const { callTimeoutMs } = accepted.spec;
      const reply = await member.call({
        session,
        method: 'tools/call',
        params,
        signal,
        timeoutMs: callTimeoutMs,
        onProgress,
        subject: { name: tool.tool, args, definition: tool.definition },
        client,
        verify,
      });
      if (reply.kind === 'error') return reply;
      return { ...reply, isError: reply.value['isError'] === true };
    },
    async relay({ upstream, params, name, beforeSend, timeoutMs, ...errand }) {
      const { member, accepted } = memberOf(upstream);
      const reply = await member.call({
        ...errand,
        params: JSON.stringify(params),
        timeoutMs: timeoutMs ?? accepted.spec.callTimeoutMs,
        ...(name === undefined ? {} : { subject: { name, args: undefined, definition: '' } }),
        ...(beforeSend === undefined ? {} : { verify: beforeSend }),
      });
      return reply.kind === 'error' ? reply : { ...reply, isError: false };
    },
  };
}
