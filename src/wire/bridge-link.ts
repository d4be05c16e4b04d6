// The bridge's side of Streamable HTTP (2025 revisions): one session with the daemon, made again when the daemon forgot it, and its
// notice stream. Hands over every message the daemon sends, its questions too, and takes the answers of a session to no other. Knows
// nothing of stdio.
import type { IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '../kernel/json.ts';
import type { Log } from '../kernel/ports.ts';
import { createBridgeAsks } from './bridge-asks.ts';
import { connectionFault } from './bridge-faults.ts';
import { handOver, wasSent, type DaemonHttp } from './bridge-http.ts';
import { createBridgeStanding, grants } from './bridge-standing.ts';
import { handshakeIn, textOf, type Handshake, type LinkFault } from './bridge-target.ts';
import { encodeNotification, encodeRequest, rpcCode, type Message, type RequestId } from './jsonrpc.ts';

export interface DaemonLink {
  /** Posts the client's own initialize; its answer comes through `onMessage`. */
  initialize(line: string, params: JsonObject): Promise<LinkFault | undefined>;
  /** Posts what holds these requests, and resolves when whatever answers it has been handed over. */
  post(line: string, requests: readonly Request[], signal: AbortSignal): Promise<LinkFault | undefined>;
  /** Whether an answer of the client is one that the session of now waits for; asked once for each. */
  awaits(id: RequestId): boolean;
  /** Posts what answers the daemon, in the session that asked or not at all. */
  reply(line: string): Promise<LinkFault | undefined>;
  /** Questions of the daemon that the client has not answered. */
  questions(): number;
  /** Keeps a notice stream open from now on. */
  listen(): void;
  /** Ends the session and what is under way in it. */
  close(): Promise<void>;
}

type Request = Extract<Message, { kind: 'request' }>;

const firstPauseMs = 500;
const longestPauseMs = 15_000;
/** What closing waits for the daemon to take the end of the session. */
const goodbyeMs = 2_000;

export function createDaemonLink(deps: {
  readonly http: DaemonHttp;
  /** One JSON-RPC message; resolves when the next may come. */
  readonly onMessage: (text: string) => Promise<void>;
  readonly log: Log;
}): DaemonLink {
  const { http, onMessage, log } = deps;
  const { where } = http;
  const closed = new AbortController();
  /** The params of the client's initialize, once the daemon has accepted them. */
  let handshake: JsonObject | undefined;
  let session: Handshake | undefined;
  /** As the client was told at its own handshake. */
  let changing: Handshake['changing'] = [];
  let renewing: Promise<LinkFault | undefined> | undefined;
  let renewals = 0;
  let listening = false;
  let streaming: AbortController | undefined;
  const asks = createBridgeAsks();
  const standing = createBridgeStanding();

  function hand(text: string): Promise<void> {
    asks.passing(text);
    return onMessage(text);
  }

  function send(method: string, body: string | undefined, signal: AbortSignal): Promise<IncomingMessage> {
    const headers = session === undefined ? {} : { 'mcp-session-id': session.id, 'mcp-protocol-version': session.version };
    return http.send(method, headers, body, signal);
  }

  /** One attempt; `lost` when the daemon does not know the session, which means it did nothing. */
  async function attempt(line: string, requests: readonly Request[], signal: AbortSignal): Promise<LinkFault | 'lost' | undefined> {
    const fault = await ensureSession();
    if (fault !== undefined) return fault;
    return exchange(line, requests, signal);
  }

  async function exchange(
    line: string,
    requests: readonly Request[],
    signal: AbortSignal,
  ): Promise<LinkFault | 'lost' | undefined> {
    const used = session;
    const watches = requests.flatMap((request) => standing.watch(request) ?? []);
    let answered = false;
    try {
      const incoming = await send('POST', line, AbortSignal.any([signal, closed.signal]));
      const { statusCode: status = 0 } = incoming;
      answered = true;
      if (status < 300) {
        await handOver(incoming, (text) => {
          for (const watch of watches) watch(text);
          return hand(text);
        });
        return undefined;
      }
      const body = await textOf(incoming);
      if (status !== 404 || used === undefined) return http.fault(status, body);
      await lose(used);
      return 'lost';
    } catch (error) {
      return { code: rpcCode.serverError, message: connectionFault(error, where, answered || wasSent(error)) };
    }
  }

  /** Somebody else may have found out first and have a new session already. What the old one asked is asked no more. */
  async function lose(used: typeof session): Promise<void> {
    if (session !== used) return;
    session = undefined;
    for (const cancelled of asks.end()) await onMessage(cancelled);
  }

  /** A session where the client had one before: many may find it gone, it is made again once. */
  function ensureSession(): Promise<LinkFault | undefined> | undefined {
    if (session !== undefined || handshake === undefined) return undefined;
    renewing ??= repeatHandshake(handshake).finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  /** The client's handshake once more, under an id of our own. */
  async function repeatHandshake(params: JsonObject): Promise<LinkFault | undefined> {
    renewals += 1;
    log.info('the daemon does not know the session any more; making a new one');
    try {
      const line = encodeRequest(`sallyport-bridge-${renewals}`, 'initialize', JSON.stringify(params));
      const incoming = await send('POST', line, closed.signal);
      const body = await textOf(incoming);
      if (adopt(incoming, body) === undefined) return http.fault(incoming.statusCode ?? 0, body);
      const initialized = await send('POST', encodeNotification('notifications/initialized'), closed.signal);
      initialized.resume();
      streaming?.abort();
      for (const list of changing) await onMessage(encodeNotification(`notifications/${list}/list_changed`));
      void restore(session);
      return undefined;
    } catch (error) {
      return { code: rpcCode.serverError, message: connectionFault(error, where, false) };
    }
  }

  /** Asks a new session for what the client was granted in the one before. */
  async function restore(made: typeof session): Promise<void> {
    for (const [turn, { method, params, notice }] of standing.wishes().entries()) {
      if (session !== made) return;
      const id = `sallyport-bridge-${renewals}-${turn}`;
      let granted = false;
      try {
        const incoming = await send('POST', encodeRequest(id, method, JSON.stringify(params)), closed.signal);
        await handOver(incoming, async (text) => {
          granted ||= grants(text, { id });
        });
        if (granted && notice !== undefined) await onMessage(notice);
      } catch {
        // The connection broke off: whoever needs it next will find out why.
      }
      if (!granted) log.warn('the daemon does not grant again what it granted before', { method });
    }
  }

  /** Takes the session an answer to initialize gives. */
  function adopt(incoming: IncomingMessage, body: string): Handshake | undefined {
    session = handshakeIn(incoming, body);
    return session;
  }

  async function keepListening(): Promise<void> {
    let pauseMs = firstPauseMs;
    while (!closed.signal.aborted) {
      streaming = new AbortController();
      // A new session cuts the old stream, or the wait for the next attempt.
      const signal = AbortSignal.any([closed.signal, streaming.signal]);
      const opened = await listenOnce(signal);
      if (opened === 'refused') return;
      pauseMs = opened === 'heard' ? firstPauseMs : Math.min(pauseMs * 2, longestPauseMs);
      await pause(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async function listenOnce(signal: AbortSignal): Promise<'heard' | 'failed' | 'refused'> {
    if ((await ensureSession()) !== undefined) return 'failed';
    const used = session;
    try {
      const incoming = await send('GET', undefined, signal);
      if (incoming.statusCode === 200) {
        await handOver(incoming, hand);
        return 'heard';
      }
      const { statusCode: status = 0 } = incoming;
      const body = await textOf(incoming);
      if (status === 404) await lose(used);
      if (status === 404 || status >= 500) return 'failed';
      log.warn('the daemon sends no notices', { why: http.fault(status, body).message });
      return 'refused';
    } catch {
      return 'failed';
    }
  }

  return {
    async initialize(line, params) {
      session = undefined;
      handshake = undefined;
      asks.end();
      standing.clear();
      try {
        const incoming = await send('POST', line, closed.signal);
        const body = await textOf(incoming);
        if ((incoming.statusCode ?? 0) >= 300) return http.fault(incoming.statusCode ?? 0, body);
        const made = adopt(incoming, body);
        if (made !== undefined) {
          handshake = params;
          changing = made.changing;
        }
        await onMessage(body);
        return undefined;
      } catch (error) {
        return { code: rpcCode.serverError, message: connectionFault(error, where, false) };
      }
    },
    async post(line, requests, signal) {
      const first = await attempt(line, requests, signal);
      if (first !== 'lost') return first;
      const second = await attempt(line, requests, signal);
      return second === 'lost' ? { code: rpcCode.sessionNotFound, message: 'The daemon ended the session again.' } : second;
    },
    awaits: (id) => asks.take(id),
    async reply(line) {
      // A new session would wait for no such answer.
      if (session === undefined) return undefined;
      const fault = await exchange(line, [], closed.signal);
      return fault === 'lost' ? undefined : fault;
    },
    questions: () => asks.waiting(),
    listen() {
      if (listening) return;
      listening = true;
      void keepListening();
    },
    async close() {
      if (session !== undefined) {
        await send('DELETE', undefined, AbortSignal.timeout(goodbyeMs)).then(
          (incoming) => incoming.resume(),
          () => undefined,
        );
      }
      closed.abort();
    },
  };
}
