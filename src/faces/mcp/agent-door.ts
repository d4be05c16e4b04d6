// The agent door: MCP over Streamable HTTP at `/mcp`, `/mcp/gate` and `/mcp/upstreams/<name>`, in sessions (2025 revisions) and without
// (stateless-door.ts), each request by what it says of itself. Says who is asking (the token, nothing else) and which session it is;
// what may be done is the gateway's to say. The token goes into no log and no record.
import type { Dispatch, ToolScope } from '../../kernel/dispatch.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Json } from '../../kernel/json.ts';
import type { BodyHandler, HeaderList, HttpHandler, HttpHead, HttpReply } from '../../wire/http-exchange.ts';
import { encodeError, readMessage, rpcCode, type ErrorId, type Message, type RequestId } from '../../wire/jsonrpc.ts';
import { parseStrictJson } from '../../wire/strict-json.ts';
import { batchFault, serveBatch } from './batch.ts';
import type { AgentDirectory, McpEndpoint } from './endpoint.ts';
import { createNoticeStream } from './notice-stream.ts';
import { acceptedBy, bearerToken, isJson, scopeOf, single } from './request-head.ts';
import { createReplySlot, jsonHeaders, type Accepted } from './reply-slot.ts';
import type { Session } from './sessions.ts';
import { isStatelessHead, serveStateless, standsAlone } from './stateless-door.ts';

export interface AgentDoorDeps {
  readonly endpoint: McpEndpoint;
  readonly agents: Pick<AgentDirectory, 'authenticate'>;
  readonly dispatch: Pick<Dispatch, 'refused'>;
}

/** Who sent a body, where, and what it takes as an answer. */
interface From {
  readonly head: HttpHead;
  readonly agent: string;
  readonly scope: ToolScope;
  readonly accepted: Accepted;
}

const unauthorized =
  'No agent has this token. Send the token that "sallyport agent add" or "sallyport agent rotate" printed, as "Authorization: Bearer <token>".';
const noBatches = 'This revision has no JSON-RPC batches. Send each message in a request of its own.';

export function createAgentDoor({ endpoint, agents, dispatch }: AgentDoorDeps): HttpHandler {
  return (head, reply) => {
    const scope = scopeOf(head.path);
    if (scope === undefined) return refuse(reply, 404, 'There is nothing here. Agents connect to /mcp.', [], noId(head));
    if (head.method !== 'POST' && head.method !== 'GET' && head.method !== 'DELETE') {
      return refuse(reply, 405, 'Use POST, GET or DELETE.', ['Allow', 'GET, POST, DELETE'], noId(head));
    }
    const agent = identify(head);
    if (agent === undefined) return refuse(reply, 401, unauthorized, ['WWW-Authenticate', 'Bearer'], noId(head));
    if (head.method === 'POST') return post(head, reply, agent, scope);
    if (isStatelessHead(head, endpoint.stateless)) {
      return refuse(reply, 405, 'This revision has no sessions: POST is its only method.', ['Allow', 'POST'], noId(head));
    }
    const session = sessionOf(head, reply, agent, scope, null);
    if (session === undefined) return undefined;
    if (head.method === 'GET') listen(head, reply, session);
    else {
      endpoint.end(session);
      reply.send(200, [], '');
    }
    return undefined;
  };

  /** Unknown, replaced and revoked tokens are the same to whoever sends them. */
  function identify({ headers }: HttpHead): string | undefined {
    const token = bearerToken(single(headers, 'authorization'));
    const agent = token === undefined ? undefined : agents.authenticate(token);
    if (agent !== undefined && agent.state !== 'revoked') return agent.name;
    dispatch.refused('agent', token === undefined ? 'no_token' : agent === undefined ? 'unknown_token' : 'revoked_token', {});
    return undefined;
  }

  function post(head: HttpHead, reply: HttpReply, agent: string, scope: ToolScope): BodyHandler | undefined {
    const accepted = acceptedBy(single(head.headers, 'accept'));
    if (!accepted.json && !accepted.stream) {
      return refuse(reply, 406, 'Accept application/json and text/event-stream.', [], noId(head));
    }
    if (!isJson(head.headers)) {
      const why = 'Send one JSON-RPC message as application/json in UTF-8, without a content encoding.';
      return refuse(reply, 415, why, [], noId(head));
    }
    return (body) => {
      const named = isStatelessHead(head, endpoint.stateless);
      const from: From = { head, agent, scope, accepted };
      const value = parse(from, body, reply, named ? undefined : null);
      if (value === undefined) return;
      const message = readMessage(value);
      if (message.kind === 'invalid') {
        spoiled(from, body, message.why);
        reply.send(400, jsonHeaders, encodeError(message.id ?? (named ? undefined : null), rpcCode.invalidRequest, message.why));
      } else if (message.kind === 'batch') receiveBatch(from, value as readonly Json[], body, reply, named);
      else if (standsAlone(message, named)) serveStateless(endpoint.stateless, from, message, reply);
      else if (message.kind === 'request' && message.method === 'initialize') initialize(message, reply, accepted, agent, scope);
      else receive(from, message, body, reply);
    };
  }

  /** The value that a body means, or nothing after the refusal was sent. */
  function parse(from: From, body: string, reply: HttpReply, noId: null | undefined): Json | undefined {
    try {
      return parseStrictJson(body);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      spoiled(from, body, error.message);
      reply.send(400, jsonHeaders, encodeError(noId, rpcCode.parseError, error.message, error.data as { [key: string]: Json }));
      return undefined;
    }
  }

  /** Where it was the answer of a client, whoever asked learns that there is none. */
  function spoiled({ head, agent, scope }: From, body: string, why: string): void {
    const sessionId = single(head.headers, 'mcp-session-id');
    const session = sessionId === undefined ? undefined : endpoint.find(sessionId, agent, scope);
    if (session !== undefined) endpoint.spoiled(session, body, why);
  }

  function initialize(
    request: Extract<Message, { kind: 'request' }>,
    reply: HttpReply,
    accepted: Accepted,
    agent: string,
    scope: ToolScope,
  ): void {
    const { session, message } = endpoint.initialize(agent, scope, request);
    createReplySlot(reply, accepted, session === undefined ? [] : ['Mcp-Session-Id', session.id]).answer(message);
  }

  function receive({ head, agent, scope, accepted }: From, message: Message, body: string, reply: HttpReply): void {
    const id = message.kind === 'request' ? message.id : null;
    const session = sessionOf(head, reply, agent, scope, id);
    if (session === undefined) return;
    if (message.kind !== 'request') {
      if (message.kind === 'notification') endpoint.notify(session, message);
      else if (message.kind === 'response') endpoint.answered(session, message, body);
      reply.send(202, [], '');
      return;
    }
    const slot = createReplySlot(reply, accepted);
    reply.onGone(() => endpoint.dropped(session, message.id, slot));
    endpoint.request(session, message, slot);
  }

  function receiveBatch(from: From, members: readonly Json[], body: string, reply: HttpReply, named: boolean): void {
    if (named) {
      reply.send(400, jsonHeaders, encodeError(undefined, rpcCode.invalidRequest, noBatches));
      return;
    }
    const { head, agent, scope, accepted } = from;
    const session = sessionOf(head, reply, agent, scope, null);
    if (session === undefined) return;
    const fault = batchFault(session, members);
    if (fault === undefined) serveBatch(endpoint, session, { members, body, accepted }, reply);
    else reply.send(400, jsonHeaders, encodeError(null, rpcCode.invalidRequest, fault));
  }

  /** The session of the request, or nothing after the refusal was sent. */
  function sessionOf(head: HttpHead, reply: HttpReply, agent: string, scope: ToolScope, id: RequestId | null): Session | undefined {
    const version = single(head.headers, 'mcp-protocol-version');
    if (version !== undefined && !endpoint.versions.includes(version)) {
      return refuse(
        reply,
        400,
        `MCP-Protocol-Version ${version.slice(0, 32)} is not spoken here, only ${endpoint.stateless.supported.join(', ')}.`,
        [],
        id,
      );
    }
    const sessionId = single(head.headers, 'mcp-session-id');
    if (sessionId === undefined) {
      return refuse(reply, 400, 'Send the Mcp-Session-Id that initialize was answered with; initialize first.', [], id);
    }
    const session = endpoint.find(sessionId, agent, scope);
    if (session === undefined) {
      const gone = encodeError(id, rpcCode.sessionNotFound, 'Session not found. It ended or is not yours; initialize a new one.');
      reply.send(404, jsonHeaders, gone);
    }
    return session;
  }

  function listen({ headers }: HttpHead, reply: HttpReply, session: Session): void {
    if (!acceptedBy(single(headers, 'accept')).stream) {
      refuse(reply, 406, 'Accept text/event-stream.', [], null);
      return;
    }
    const stream = createNoticeStream(reply, (ended) => endpoint.unlisten(session, ended));
    stream.keepAlive();
    endpoint.listen(session, stream);
  }

  /** How an error is written that answers a message whose id is not known. */
  function noId(head: HttpHead): null | undefined {
    return isStatelessHead(head, endpoint.stateless) ? undefined : null;
  }
}

function refuse(reply: HttpReply, status: number, message: string, headers: HeaderList, id: ErrorId): undefined {
  reply.send(status, [...jsonHeaders, ...headers], encodeError(id, rpcCode.serverError, message));
  return undefined;
}
