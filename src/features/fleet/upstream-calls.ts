// Requests on their way to a member: params written, the definition held to what was decided on, the answer with what it says of itself.
// Knows no state of a member and no agent.
import type { ClientHost } from '../../kernel/client-host.ts';
import type { LogLevel } from '../../kernel/dispatch.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { UpstreamClient, UpstreamReply } from '../../kernel/ports.ts';
import type { CatalogTool, Party } from './model.ts';
import { quarantined } from './refusals.ts';
import type { MemberEntry } from './roster.ts';

export interface UpstreamCall {
  /** Of the caller; where it is told, an upstream that runs once for each agent is that agent's. */
  readonly agent?: string | undefined;
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
  /** Until when it was let pass, milliseconds since the epoch. */
  readonly until?: number | undefined;
  /** Asked when everything is ready, in the same tick as the sending; what it throws is the answer, and nothing was sent. */
  readonly beforeSend?: () => void;
}

/** A request for something else than a tool, with params as they are to be sent. */
export interface UpstreamErrand extends Pick<
  UpstreamCall,
  'agent' | 'session' | 'client' | 'host' | 'signal' | 'onProgress' | 'until' | 'beforeSend'
> {
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
  /** Updates of the resource are wanted for the session until `unfollow`, or its end; resolves with what the upstream said to that. */
  follow(wish: UpstreamFollowing): Promise<UpstreamReply>;
  unfollow(upstream: string, session: string, uri: string): void;
  /** The least severe log messages the session wants of it; `undefined` none. */
  logLevel(upstream: string, party: Party, level: LogLevel | undefined): void;
}

export interface UpstreamFollowing {
  readonly upstream: string;
  readonly party: Party;
  readonly uri: string;
  readonly signal: AbortSignal;
}

/** `memberOf` throws for an upstream that is not to be called, `find` finds nothing. */
export function createUpstreamCalls(
  memberOf: (upstream: string) => MemberEntry,
  find: (upstream: string) => MemberEntry | undefined,
): UpstreamCalls {
  return {
    async call({ agent, session, client, host, tool, args, rest, signal, onProgress, until, beforeSend }) {
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
        agent,
        session,
        host,
        method: 'tools/call',
        params,
        signal,
        timeoutMs: callTimeoutMs,
        onProgress,
        subject: { name: tool.tool, args, definition: tool.definition },
        client,
        until,
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
    async follow({ upstream, party, uri, signal }) {
      const { member, accepted } = memberOf(upstream);
      return member.follow(party, uri, { signal, timeoutMs: accepted.spec.callTimeoutMs });
    },
    // Of an upstream that went meanwhile nothing is left to be taken back.
    unfollow: (upstream, session, uri) => find(upstream)?.member.unfollow(session, uri),
    logLevel: (upstream, party, level) => find(upstream)?.member.logLevel(party, level),
  };
}
