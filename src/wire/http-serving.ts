// What a TCP door does with a request whatever read it: the handler is asked with the head, then given the body, and costs one request,
// never the process, when it throws. Knows no socket.
import type { Buffer } from 'node:buffer';
import type { Log } from '../kernel/ports.ts';
import type { BodyHandler, HttpHandler, HttpHead, HttpReply } from './http-exchange.ts';
import { encodeError, rpcCode } from './jsonrpc.ts';
import { readUtf8 } from './utf8-text.ts';

export interface Serving {
  /** What takes the body; `undefined` when nothing will. */
  begin(head: HttpHead, reply: HttpReply): BodyHandler | undefined;
  /** The whole body. */
  take(takeBody: BodyHandler, body: Buffer, reply: HttpReply): void;
}

export const json = ['Content-Type', 'application/json'] as const;

export function createServing(handler: HttpHandler, log: Log): Serving {
  /** What was thrown stays with the operator. */
  function failed(reply: HttpReply, error: unknown): void {
    log.error('a request failed unexpectedly', { error: error instanceof Error ? error.message : String(error) });
    reply.send(500, json, encodeError(null, rpcCode.internalError, 'Internal error. The log of the daemon says more.'));
  }

  return {
    begin(head, reply) {
      try {
        return handler(head, reply);
      } catch (error) {
        failed(reply, error);
        return undefined;
      }
    },
    take(takeBody, body, reply) {
      const text = readUtf8(body);
      if (text === undefined) {
        reply.send(400, json, encodeError(null, rpcCode.parseError, 'The body is not UTF-8.'));
        return;
      }
      try {
        takeBody(text);
      } catch (error) {
        failed(reply, error);
      }
    },
  };
}
