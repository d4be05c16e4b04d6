// A batch line of a stdio client (arrays of messages exist in MCP 2025-03-26): which messages it holds, and the text that goes on. Whether
// the session has batches is for the daemon to say.
import type { Json } from '../kernel/json.ts';
import { splitBatch } from './frame-slice.ts';
import { readMessage, type Message, type RequestId } from './jsonrpc.ts';

export interface BridgeBatch {
  /** Those that go on, as the array they were in. */
  readonly text: string;
  readonly members: number;
  readonly requests: readonly Extract<Message, { kind: 'request' }>[];
  /** Of its notifications. */
  readonly methods: readonly string[];
}

/** `values` are what `line` says. Answers go on where somebody `awaits` them. `undefined` for an array of nothing. */
export function batchOf(line: string, values: readonly Json[], awaits: (id: RequestId) => boolean): BridgeBatch | undefined {
  if (values.length === 0) return undefined;
  const texts = splitBatch(line);
  const kept: string[] = [];
  const messages: Message[] = [];
  for (const [at, message] of values.map(readMessage).entries()) {
    if (message.kind === 'response' && !awaits(message.id)) continue;
    kept.push(texts[at] ?? '');
    messages.push(message);
  }
  return {
    text: `[${kept.join(',')}]`,
    members: kept.length,
    requests: messages.filter((message) => message.kind === 'request'),
    methods: messages.flatMap((message) => (message.kind === 'notification' ? [message.method] : [])),
  };
}
