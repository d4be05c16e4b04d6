// Reads the answer to one POST or GET of MCP's Streamable HTTP: a JSON body, a stream of events, nothing, or a refusal. Messages are handed
// on as the texts they are, in the order of their arrival. Bounds what it holds. Knows no ids and no sessions.
import { Buffer } from 'node:buffer';
import { createEventReader, type EventReader } from '../wire/sse.ts';
import type { AppError } from '../kernel/errors.ts';
import { createBodyText } from './http-body-text.ts';
import type { HttpHead, HttpReader } from './http-exchange.ts';
import { broken, type HttpRefusal } from './http-faults.ts';

export interface AnswerReader {
  /** The head of an answer that is no refusal. */
  accepted?(head: HttpHead): void;
  message(text: string): void;
  /** Only of streams: where to resume, how long to wait before, and events that are no messages. */
  position?(id: string): void;
  retryAfter?(ms: number): void;
  event?(type: string, data: string): void;
  refused(refusal: HttpRefusal): void;
  /** The whole answer was read. */
  done(): void;
  failed(error: AppError): void;
}

const maxRefusalBytes = 64 * 1024;
const maxChallenge = 2_048;
/** A position goes back in a header; one that no header can carry is none. */
const carriable = /^[\x21-\x7e](?:[\x20-\x7e]{0,1022}[\x21-\x7e])?$/;

interface BodyReader {
  data(chunk: Buffer): void;
  end(): void;
}

/** Whichever of `refused`, `done` and `failed` comes, comes once and last. */
export function readAnswer(reader: AnswerReader, maxBytes: number): HttpReader {
  let body: BodyReader | undefined;
  return {
    head(head) {
      if (head.status < 200 || head.status >= 300) {
        body = refusalReader(head, reader);
        return;
      }
      body = bodyReader(head, reader, maxBytes);
      reader.accepted?.(head);
    },
    data: (chunk) => body?.data(chunk),
    end: () => body?.end(),
    fail: (error) => reader.failed(error),
  };
}

function bodyReader(head: HttpHead, reader: AnswerReader, maxBytes: number): BodyReader {
  if (head.status === 202 || head.status === 204) return { data: () => undefined, end: () => reader.done() };
  const encoding = head.header('content-encoding') ?? 'identity';
  if (encoding !== 'identity') throw broken(`compressed its answer (${encoding.slice(0, 32)}), which nobody asked for`);
  const type = (head.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase();
  if (type === 'application/json') return jsonReader(head, reader, maxBytes);
  if (type === 'text/event-stream') return streamReader(reader, maxBytes);
  throw broken(`answered with content of type '${(type ?? '').slice(0, 64)}' instead of JSON or a stream of events`);
}

function jsonReader(head: HttpHead, reader: AnswerReader, maxBytes: number): BodyReader {
  const announced = Number(head.header('content-length') ?? 0);
  const body = createBodyText(maxBytes, announced > 0 ? announced : 0);
  return {
    data(chunk) {
      try {
        body.push(chunk);
      } catch {
        throw broken(`answered with more than ${maxBytes} bytes`);
      }
    },
    end() {
      const text = body.end();
      if (text === undefined) {
        reader.failed(broken('answered with bytes that are not UTF-8'));
        return;
      }
      if (text !== '') reader.message(text);
      reader.done();
    },
  };
}

function streamReader(reader: AnswerReader, maxBytes: number): BodyReader {
  const events: EventReader = createEventReader({
    maxLength: maxBytes,
    onData: (data) => reader.message(data),
    onOther: (type, data) => reader.event?.(type, data),
    onPosition: (id) => void (carriable.test(id) && reader.position?.(id)),
    onRetry: (ms) => reader.retryAfter?.(ms),
  });
  return {
    data(chunk) {
      try {
        events.push(chunk);
      } catch (error) {
        if (error instanceof RangeError) throw broken(`sent an event of more than ${maxBytes} characters`);
        if (error instanceof TypeError) throw broken('sent a stream that is not UTF-8');
        throw error;
      }
    },
    end: () => reader.done(),
  };
}

function refusalReader(head: HttpHead, reader: AnswerReader): BodyReader {
  const chunks: Buffer[] = [];
  let length = 0;
  return {
    data(chunk) {
      length += chunk.length;
      if (length <= maxRefusalBytes) chunks.push(chunk);
    },
    end() {
      reader.refused({
        status: head.status,
        body: Buffer.concat(chunks).toString('utf8'),
        retryAfterMs: retryAfterMs(head.header('retry-after')),
        location: head.header('location'),
        challenge: head.header('www-authenticate')?.slice(0, maxChallenge),
      });
    },
  };
}

/** RFC 9110 §10.2.3: seconds, or a date. */
function retryAfterMs(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
