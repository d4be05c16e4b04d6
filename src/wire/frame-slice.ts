// One line of an upstream read as a JSON-RPC 2.0 message whose result or error stays the text it was: the agent gets those bytes, not a
// re-serialization. The text is validated whole, with a single JSON.parse of the part that travels on. Knows no ids and no sessions.
import type { Json, JsonObject } from '../kernel/json.ts';
import { arrayElements, memberHead, skipSpace, skipValue } from '../lib/json-text.ts';

export type Frame =
  | { readonly kind: 'result'; readonly id: Json; readonly json: string; readonly value: JsonObject }
  | { readonly kind: 'error'; readonly id: Json; readonly json: string; readonly code: number }
  /** A response that answers nothing: no object as result, both result and error, an error without code or message. */
  | { readonly kind: 'broken'; readonly id: Json; readonly reason: string }
  /** `id` is the JSON text of the id, to be sent back as it came; `text` that of the params, to travel on as it came. */
  | ({ readonly kind: 'request'; readonly id: string } & Told)
  | ({ readonly kind: 'notification' } & Told);

interface Told {
  readonly method: string;
  readonly params: JsonObject | undefined;
  readonly text: string | undefined;
}

interface Slice {
  readonly json: string;
  readonly value: Json;
}

type Envelope = Map<string, Slice>;

/** Members large enough to matter: read where they stand, with as few passes as the order of the members allows. */
const bulky = new Set(['result', 'error', 'params']);

/** The last members as the TypeScript SDK writes them, after the result; a probe only, the parse before it is the proof. */
const usualTail = /,\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(-?\d{1,15})\s*\}\s*$/;
const tailLength = 96;

/** `undefined` when the line is no JSON-RPC 2.0 message, or one with a key twice in its envelope. */
export function readFrame(line: string): Frame | undefined {
  const envelope = readEnvelope(line);
  return envelope === undefined || envelope.get('jsonrpc')?.value !== '2.0' ? undefined : classify(envelope);
}

/** The messages of a batch line (JSON-RPC batches exist in MCP 2025-03-26); a line that is no array is its only message. */
export function splitBatch(line: string): readonly string[] {
  if (line.charCodeAt(skipSpace(line, 0)) !== 0x5b) return [line];
  return (arrayElements(line) ?? []).map(({ start, end }) => line.slice(start, end));
}

function readEnvelope(line: string): Envelope | undefined {
  const open = skipSpace(line, 0);
  const close = endOfObject(line);
  if (line.charCodeAt(open) !== 0x7b || close <= open) return undefined;
  const envelope: Envelope = new Map();
  for (let at = skipSpace(line, open + 1); ;) {
    const head = memberHead(line, at);
    if (head === undefined || envelope.has(head.key)) return undefined;
    if (bulky.has(head.key) && readToTheEnd(line, head.key, head.start, close, envelope)) return envelope;
    const end = skipValue(line, head.start);
    const slice = end === undefined ? undefined : parsed(line.slice(head.start, end));
    if (end === undefined || slice === undefined) return undefined;
    envelope.set(head.key, slice);
    at = skipSpace(line, end);
    if (at === close) return envelope;
    if (line.charCodeAt(at) !== 0x2c) return undefined;
    at = skipSpace(line, at + 1);
  }
}

/** Reads a bulky member that is the last one, or is followed by the usual tail, in one parse. False: look more closely. */
function readToTheEnd(line: string, key: string, start: number, close: number, envelope: Envelope): boolean {
  if (envelope.has('id') || key === 'params') {
    const slice = parsed(line.slice(start, close).trimEnd());
    if (slice === undefined) return false;
    envelope.set(key, slice);
    return true;
  }
  const from = Math.max(start, line.length - tailLength);
  const tail = usualTail.exec(line.slice(from));
  const id = tail?.[1];
  if (tail === null || id === undefined || envelope.has('jsonrpc')) return false;
  const slice = parsed(line.slice(start, from + tail.index).trimEnd());
  const idSlice = parsed(id);
  if (slice === undefined || idSlice === undefined) return false;
  envelope.set(key, slice).set('jsonrpc', { json: '"2.0"', value: '2.0' }).set('id', idSlice);
  return true;
}

function classify(envelope: Envelope): Frame | undefined {
  const id = envelope.get('id');
  const method = envelope.get('method')?.value;
  if (typeof method === 'string') {
    const sent = envelope.get('params');
    const params = isObject(sent?.value) ? sent.value : undefined;
    const text = params === undefined ? undefined : sent?.json;
    return id === undefined
      ? { kind: 'notification', method, params, text }
      : { kind: 'request', id: id.json, method, params, text };
  }
  if (method !== undefined || id === undefined) return undefined;
  const result = envelope.get('result');
  const error = envelope.get('error');
  if ((result === undefined) === (error === undefined))
    return { kind: 'broken', id: id.value, reason: 'a response needs either result or error' };
  if (result !== undefined) {
    if (!isObject(result.value)) return { kind: 'broken', id: id.value, reason: 'the result is not an object' };
    return { kind: 'result', id: id.value, json: result.json, value: result.value };
  }
  const code = isObject(error?.value) && typeof error.value['message'] === 'string' ? error.value['code'] : undefined;
  if (error === undefined || typeof code !== 'number')
    return { kind: 'broken', id: id.value, reason: 'the error has no code or message' };
  return { kind: 'error', id: id.value, json: error.json, code };
}

function endOfObject(line: string): number {
  const trimmed = line.trimEnd();
  return trimmed.endsWith('}') ? trimmed.length - 1 : -1;
}

function parsed(json: string): Slice | undefined {
  try {
    return { json, value: JSON.parse(json) as Json };
  } catch {
    return undefined;
  }
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
