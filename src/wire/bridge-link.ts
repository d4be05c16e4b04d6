// The bridge's side of Streamable HTTP (2025 revisions): one session with the daemon, made again when the daemon forgot it, and its
// notice stream. Hands over every message the daemon sends. Knows nothing of stdio.
import type { IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '../kernel/json.ts';
import type { Log } from '../kernel/ports.ts';
import { connectionFault } from './bridge-faults.ts';
import { handOver, wasSent, type DaemonHttp } from './bridge-http.ts';
import { handshakeIn, textOf, type Handshake, type LinkFault } from './bridge-target.ts';
import { encodeNotification, encodeRequest, rpcCode } from './jsonrpc.ts';

export interface DaemonLink {
  /** Posts the client's own initialize; its answer comes through `onMessage`. */
  initialize(line: string, params: JsonObject): Promise<LinkFault | undefined>;
  /** Posts a message and resolves when whatever answers it has been handed over. */
  post(line: string, signal: AbortSignal): Promise<LinkFault | undefined>;
  /** Keeps a notice stream open from now on. */
  listen(): void;
  /** Ends the session and what is under way in it. */
  close(): Promise<void>;
}

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

  function send(method: string, body: string | undefined, signal: AbortSignal): Promise<IncomingMessage> {
    const headers = session === undefined ? {} : { 'mcp-session-id': session.id, 'mcp-protocol-version': session.version };
    return http.send(method, headers, body, signal);
  }

  /** One attempt; `lost` when the daemon does not know the session, which means it did nothing. */
  async function attempt(line: string, signal: AbortSignal): Promise<LinkFault | 'lost' | undefined> {
    const fault = await ensureSession();
    if (fault !== undefined) return fault;
    const used = session;
    let answered = false;
    try {
      const incoming = await send('POST', line, AbortSignal.any([signal, closed.signal]));
      const { statusCode: status = 0 } = incoming;
      answered = true;
      if (status < 300) {
        await handOver(incoming, onMessage);
        return undefined;
      }
      const body = await textOf(incoming);
      if (status !== 404 || used === undefined) return http.fault(status, body);
      lose(used);
      return 'lost';
    } catch (error) {
      return { code: rpcCode.serverError, message: connectionFault(error, where, answered || wasSent(error)) };
    }
  }

  /** Somebody else may have found out first and have a new session already. */
  function lose(used: typeof session): void {
    if (session === used) session = undefined;
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
      return undefined;
    } catch (error) {
      return { code: rpcCode.serverError, message: connectionFault(error, where, false) };
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
        await handOver(incoming, onMessage);
        return 'heard';
      }
      const { statusCode: status = 0 } = incoming;
      const body = await textOf(incoming);
      if (status === 404) lose(used);
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
    async post(line, signal) {
      const first = await attempt(line, signal);
      if (first !== 'lost') return first;
      const second = await attempt(line, signal);
      return second === 'lost' ? { code: rpcCode.sessionNotFound, message: 'The daemon ended the session again.' } : second;
    },
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
