// JSON-RPC 2.0 envelopes as MCP narrows them (base protocol, "Messages"): ids are strings or integers, params are objects, one message
// at a time. Reads parsed values and writes texts into which an already serialised result is spliced. Knows no method.
import type { Json, JsonObject } from '../kernel/json.ts';
import { skipValue } from '../lib/json-text.ts';

export type RequestId = string | number;

export type Message =
  | { readonly kind: 'request'; readonly id: RequestId; readonly method: string; readonly params: JsonObject | undefined }
  | { readonly kind: 'notification'; readonly method: string; readonly params: JsonObject | undefined }
  | { readonly kind: 'response'; readonly id: RequestId }
  /** An array of messages: 2025-03-26 had them, later revisions do not. */
  | { readonly kind: 'batch' }
  /** `id` is the sender's where it could be read, for the error that answers. */
  | { readonly kind: 'invalid'; readonly id: RequestId | null; readonly why: string };

/** JSON-RPC 2.0 §5.1, and what MCP adds to it. */
export const rpcCode = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** First of the range left to servers; what is meant stands in the message. */
  serverError: -32000,
  /** 2025 revisions: a URI names no resource. */
  resourceNotFound: -32002,
  /** What the SDKs use for a session that is not there. */
  sessionNotFound: -32001,
  /** 2026-07-28: headers and body say different things. */
  headerMismatch: -32020,
  /** 2026-07-28: `data.requiredCapabilities` says what the client would have to be able to do. */
  missingCapability: -32021,
  /** 2026-07-28: `data.supported` says which revisions are served. */
  unsupportedVersion: -32022,
} as const;

/** Never throws: what is no message comes back as `invalid` with the reason, worded for its sender. */
export function readMessage(value: Json): Message {
  if (Array.isArray(value)) return { kind: 'batch' };
  if (!isObject(value)) return { kind: 'invalid', id: null, why: 'A message is a JSON object.' };
  const id = value['id'];
  const known = isRequestId(id) ? id : null;
  const invalid = (why: string): Message => ({ kind: 'invalid', id: known, why });

  if (value['jsonrpc'] !== '2.0') return invalid('The member "jsonrpc" must be "2.0".');
  const method = value['method'];
  if (method === undefined) return readResponse(value, known, invalid);
  if (typeof method !== 'string') return invalid('The member "method" must be a string.');
  if ('result' in value || 'error' in value) return invalid('A message with a method has neither "result" nor "error".');
  const params = value['params'];
  if (params !== undefined && !isObject(params)) return invalid('The member "params" must be an object.');
  if (id === undefined) return { kind: 'notification', method, params };
  if (known === null) return invalid('The member "id" must be a string or an integer.');
  return { kind: 'request', id: known, method, params };
}

function readResponse(value: JsonObject, id: RequestId | null, invalid: (why: string) => Message): Message {
  if ('result' in value === 'error' in value)
    return invalid('A message has a "method", a "result" or an "error", and only one of them.');
  // An error without an id answers nothing we asked: there is nobody to hand it to.
  return id === null ? invalid('A response names the request it answers in "id".') : { kind: 'response', id };
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isRequestId(value: Json | undefined): value is RequestId {
  return typeof value === 'string' || Number.isInteger(value);
}

/** `result` is JSON text and goes in unchanged. */
export function encodeResult(id: RequestId, result: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

/** The same in parts that follow one another: joining a result of a megabyte costs as much as hashing it. */
export function encodeResultParts(id: RequestId, result: string): readonly [string, string, string] {
  return [`${answerHead}${JSON.stringify(id)},"result":`, result, '}'];
}

/** The id of an error: null when the message it answers had none that could be read, `undefined` to say so as 2026-07-28 does. */
export type ErrorId = RequestId | null | undefined;

export function encodeError(id: ErrorId, code: number, message: string, data?: JsonObject): string {
  return encodeErrorText(id, JSON.stringify({ code, message, ...(data === undefined ? {} : { data }) }));
}

/** `error` is the JSON text of an error object and goes in unchanged. */
export function encodeErrorText(id: ErrorId, error: string): string {
  return id === undefined ? `{"jsonrpc":"2.0","error":${error}}` : `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":${error}}`;
}

/** An answer that one of the functions above wrote, under another id. */
export function withId(answer: string, id: RequestId): string {
  const end = skipValue(answer, answerHead.length);
  return end === undefined || !answer.startsWith(answerHead) ? answer : `${answerHead}${JSON.stringify(id)}${answer.slice(end)}`;
}

const answerHead = '{"jsonrpc":"2.0","id":';

/** `params` is the JSON text of an object. */
export function encodeNotification(method: string, params?: string): string {
  return params === undefined
    ? `{"jsonrpc":"2.0","method":${JSON.stringify(method)}}`
    : `{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${params}}`;
}

/** `params` is the JSON text of an object. */
export function encodeRequest(id: RequestId, method: string, params: string | undefined): string {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":${JSON.stringify(method)}`;
  return params === undefined ? `${head}}` : `${head},"params":${params}}`;
}
