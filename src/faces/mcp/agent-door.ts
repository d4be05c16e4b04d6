// The agent door: MCP over Streamable HTTP at `/mcp`, `/mcp/gate` and `/mcp/upstreams/<name>`, in sessions (2025 revisions) and without
// (stateless-door.ts), each request by what it says of itself. Says who is asking (the token, nothing else) and which session it is;
// what may be done is the gateway's to say. The token goes into no log and no record.
import type { Dispatch, ToolScope } from '../../kernel/dispatch.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Json } from '../../kernel/json.ts';
import type { BodyHandler, HeaderList, HttpHandler, HttpHead, HttpReply } from '../../wire/http-exchange.ts';
import { encodeError, readMessage, rpcCode, type ErrorId, type Message, type RequestId } from '../../wire/jsonrpc.ts';
import { parseStrictJson } from '../../wire/strict-json.ts';
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

const unauthorized =
  'No agent has this token. Send the token that "sallyport agent add" or "sallyport agent rotate" printed, as "Authorization: Bearer <token>".';
const noBatches =
  'JSON-RPC batches are not served here: 2025-06-18 removed them, and those of 2025-03-26 are not served yet. Send each message in a request of its own.';

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
      const message = parse(body, reply, named ? undefined : null);
      if (message === undefined) return;
      if (standsAlone(message, named)) serveStateless(endpoint.stateless, { head, agent, scope, accepted }, message, reply);
      else if (message.kind === 'request' && message.method === 'initialize') initialize(message, reply, accepted, agent, scope);
      else receive(head, message, reply, accepted, agent, scope);
    };
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

  function receive(head: HttpHead, message: Message, reply: HttpReply, accepted: Accepted, agent: string, scope: ToolScope): void {
    const id = message.kind === 'request' ? message.id : null;
    const session = sessionOf(head, reply, agent, scope, id);
    if (session === undefined) return;
    if (message.kind !== 'request') {
      if (message.kind === 'notification') endpoint.notify(session, message);
      // Responses answer requests of ours; this door sends none, so they are taken and forgotten.
      reply.send(202, [], '');
      return;
    }
    const slot = createReplySlot(reply, accepted);
    reply.onGone(() => endpoint.dropped(session, message.id, slot));
    endpoint.request(session, message, slot);
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

function parse(body: string, reply: HttpReply, noId: null | undefined): Message | undefined {
  let value: Json;
  try {
    value = parseStrictJson(body);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    reply.send(400, jsonHeaders, encodeError(noId, rpcCode.parseError, error.message, error.data as { [key: string]: Json }));
    return undefined;
  }
  const message = readMessage(value);
  if (message.kind === 'batch') {
    reply.send(400, jsonHeaders, encodeError(noId, rpcCode.invalidRequest, noBatches));
    return undefined;
  }
  if (message.kind === 'invalid') {
    reply.send(400, jsonHeaders, encodeError(message.id ?? noId, rpcCode.invalidRequest, message.why));
    return undefined;
  }
  return message;
}

function refuse(reply: HttpReply, status: number, message: string, headers: HeaderList, id: ErrorId): undefined {
  reply.send(status, [...jsonHeaders, ...headers], encodeError(id, rpcCode.serverError, message));
  return undefined;
}
