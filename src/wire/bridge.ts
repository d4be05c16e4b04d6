// The stdio bridge: MCP over stdin and stdout on one side, the daemon's agent door on the other. It decides nothing and keeps nothing;
// messages go through as they are, in their order, and what goes wrong in between is said to the agent in words it can act on. Requests
// that say their revision (2026-07-28) are exchanges of their own, the others share a session.
import type { Readable, Writable } from 'node:stream';
import { AppError, asAppError } from '../kernel/errors.ts';
import type { Json } from '../kernel/json.ts';
import type { Log } from '../kernel/ports.ts';
import { batchOf } from './bridge-batch.ts';
import { createDaemonHttp } from './bridge-http.ts';
import { createDaemonLink } from './bridge-link.ts';
import { createStatelessLink } from './bridge-stateless.ts';
import type { DaemonAddress, LinkFault } from './bridge-target.ts';
import { encodeError, readMessage, rpcCode, type Message, type RequestId } from './jsonrpc.ts';
import { createLineReader, type LineFault } from './lines.ts';
import { claimedVersion } from './request-envelope.ts';
import { parseStrictJson } from './strict-json.ts';

export interface BridgeOptions {
  /** Newline-delimited JSON-RPC. */
  readonly input: Readable;
  readonly output: Writable;
  readonly endpoint: DaemonAddress;
  /** The agent's token; who the agent is follows from it alone. */
  readonly token: string;
  readonly log: Log;
  /** How long requests in flight may go on after the input ended; default 1 s. */
  readonly drainMs?: number;
}

interface RequestKind {
  /** An exchange of its own, without a session. */
  readonly alone: boolean;
  /** It never ends by itself. */
  readonly lasting: boolean;
}

interface InFlight extends RequestKind {
  readonly abort: AbortController;
  readonly settled: Promise<void>;
}

const inSession: RequestKind = { alone: false, lasting: false };
const initialized = 'notifications/initialized';

/** The agent door takes no longer message. */
const maxLineBytes = 4 * 1024 * 1024;

/**
 * Resolves when the input has ended (or nobody reads the output any more) and the session is closed. Throws `bridge.no_token` (kind
 * unauthenticated) when there is no usable token. Failures of the daemon end nothing: they are answers.
 */
export async function runBridge({ input, output, endpoint, token, log, drainMs = 1_000 }: BridgeOptions): Promise<void> {
  assertToken(token);
  const http = createDaemonHttp(endpoint, token);
  const link = createDaemonLink({ http, onMessage: write, log });
  const stateless = createStatelessLink({ http, onMessage: write });
  /** Batches are under a symbol of their own: nobody takes them back. */
  const inFlight = new Map<RequestId | symbol, InFlight>();
  /** How the client opened: what does not say its revision is of the same era. */
  let opened: 'session' | 'stateless' | undefined;
  const outputGone = Promise.withResolvers<void>();
  output.once('error', () => outputGone.resolve());
  output.once('close', () => outputGone.resolve());

  /** A line break in JSON is white space between tokens; on this side it would end the message. */
  async function write(text: string): Promise<void> {
    if (output.destroyed || output.writableEnded) return;
    const line = text.includes('\n') || text.includes('\r') ? text.replace(/[\r\n]/g, ' ') : text;
    await new Promise<void>((resolve) => {
      // Waits only when the reader is behind: the pipe then holds the daemon back too.
      if (output.write(`${line}\n`, () => resolve())) resolve();
    });
  }

  async function take(line: string): Promise<void> {
    let value: Json;
    try {
      value = parseStrictJson(line);
    } catch (error) {
      await write(encodeError(null, rpcCode.parseError, asAppError(error).message));
      // It may have been an answer: the daemon tells whoever waits for it.
      if (link.questions() > 0) await link.reply(line);
      return;
    }
    const message = readMessage(value);
    if (message.kind === 'request') {
      if (standsAlone(message)) {
        const lasting = message.method === 'subscriptions/listen';
        begin(message.id, { alone: true, lasting }, (signal) => stateless.request(line, message, signal));
      } else if (message.method === 'initialize') await answered(message.id, link.initialize(line, message.params ?? {}));
      else begin(message.id, inSession, (signal) => link.post(line, [message], signal));
      return;
    }
    if (message.kind === 'batch') {
      await takeBatch(line, value as readonly Json[]);
      return;
    }
    if (message.kind === 'response' && opened !== 'stateless') {
      // Late ones are dropped: their session is over, or whoever asked has taken the question back.
      if (link.awaits(message.id)) await unanswered(link.reply(line));
      return;
    }
    if (message.kind === 'invalid') {
      await write(encodeError(message.id, rpcCode.invalidRequest, message.why));
      return;
    }
    const cancelled = message.kind === 'notification' && message.method === 'notifications/cancelled';
    const taken = cancelled ? inFlight.get(message.params?.['requestId'] as RequestId) : undefined;
    // Closing its exchange says all there is to say; no other message but a request is defined in that revision.
    if (taken?.alone === true || (taken === undefined && opened === 'stateless')) {
      taken?.abort.abort();
      return;
    }
    const arrived = await unanswered(link.post(line, [], new AbortController().signal));
    if (arrived && message.kind === 'notification' && message.method === initialized) link.listen();
    // The daemon has been told; if it never saw the request, closing its connection says the same.
    taken?.abort.abort();
  }

  /** Resolves with whether it arrived. */
  async function unanswered(delivery: Promise<LinkFault | undefined>): Promise<boolean> {
    const fault = await delivery;
    if (fault !== undefined) log.warn('a message did not reach the daemon', { why: fault.message });
    return fault === undefined;
  }

  /** An array goes on as the array it is, less what nobody waits for. */
  async function takeBatch(line: string, values: readonly Json[]): Promise<void> {
    const batch = opened === 'stateless' ? undefined : batchOf(line, values, (id) => link.awaits(id));
    if (batch === undefined) {
      await write(encodeError(null, rpcCode.invalidRequest, 'This is no batch that is served. Send one message a line.'));
      return;
    }
    const { text, requests, methods, members } = batch;
    if (members === 0) return;
    if (requests.length === 0) {
      if ((await unanswered(link.post(text, [], new AbortController().signal))) && methods.includes(initialized)) link.listen();
      return;
    }
    begin(Symbol('batch'), inSession, (signal) => link.post(text, requests, signal), requests);
  }

  function standsAlone({ method, params }: Extract<Message, { kind: 'request' }>): boolean {
    if (claimedVersion(params) !== undefined) {
      opened ??= 'stateless';
      return true;
    }
    if (method === 'initialize') opened = 'session';
    return opened === 'stateless';
  }

  /** Requests do not wait for each other; whatever comes after one waits only until it has been started. */
  function begin(
    key: RequestId | symbol,
    kind: RequestKind,
    send: (signal: AbortSignal) => Promise<LinkFault | undefined>,
    requests: readonly { readonly id: RequestId }[] = typeof key === 'symbol' ? [] : [{ id: key }],
  ): void {
    const abort = new AbortController();
    const settled = send(abort.signal).then(async (fault) => {
      if (inFlight.get(key)?.abort === abort) inFlight.delete(key);
      if (fault === undefined || abort.signal.aborted) return;
      for (const { id } of requests) await write(errorOf(id, fault));
    });
    inFlight.set(key, { ...kind, abort, settled });
  }

  async function answered(id: RequestId, delivery: Promise<LinkFault | undefined>): Promise<void> {
    const fault = await delivery;
    if (fault !== undefined) await write(errorOf(id, fault));
  }

  await Promise.race([eachLine(input, take, (fault) => write(lineError(fault))), outputGone.promise]);
  input.destroy();
  for (const { lasting, abort } of inFlight.values()) if (lasting) abort.abort();
  const all = Promise.all([...inFlight.values()].map(({ settled }) => settled));
  await Promise.race([all, outputGone.promise, new Promise((resolve) => setTimeout(resolve, drainMs).unref())]);
  for (const { abort } of inFlight.values()) abort.abort();
  await link.close();
  http.close();
}

/** Takes lines one at a time, so that a slow daemon holds the input back instead of filling our memory. */
async function eachLine(
  input: Readable,
  take: (line: string) => Promise<void>,
  bad: (fault: LineFault) => Promise<void>,
): Promise<void> {
  let todo: (() => Promise<void>)[] = [];
  const reader = createLineReader({
    maxBytes: maxLineBytes,
    onLine: (line) => todo.push(() => take(line)),
    onFault: (fault) => todo.push(() => bad(fault)),
  });
  const drain = async (): Promise<void> => {
    const batch = todo;
    todo = [];
    for (const step of batch) await step();
  };
  try {
    for await (const chunk of input) {
      reader.push(chunk as Uint8Array);
      await drain();
    }
  } catch {
    // The input broke off: the same as its end.
  }
  reader.end();
  await drain();
}

function errorOf(id: RequestId, { code, message }: LinkFault): string {
  return encodeError(id, code, message);
}

function lineError(fault: LineFault): string {
  const why = fault === 'oversize' ? `A message is longer than ${maxLineBytes} bytes.` : 'A message is not UTF-8.';
  return encodeError(null, rpcCode.parseError, why);
}

function assertToken(token: string): void {
  if (/^[\x21-\x7e]+$/.test(token)) return;
  throw new AppError('unauthenticated', 'bridge.no_token', 'The stdio bridge needs the token of an agent.', {
    hint: 'Put it into SALLYPORT_TOKEN, or its file into SALLYPORT_TOKEN_FILE; "sallyport agent add NAME" prints one.',
  });
}
