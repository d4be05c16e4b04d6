// What the raw upstreams answer: two tools that return a text of the asked size, ready in memory after its first use.
// Hand-written so that it costs next to nothing and the arm in front of it is what is measured. Knows no transport.

export interface Request {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: string; readonly arguments?: { readonly size?: number } };
}

const input = { type: 'object', properties: { size: { type: 'integer', minimum: 1 } }, required: ['size'] };
const tools = [
  { name: 'read', description: 'Answers a text of `size` bytes.', inputSchema: input, annotations: { readOnlyHint: true } },
  { name: 'write', description: 'The same answer from a tool that promises nothing about effects.', inputSchema: input },
];
/** Revisions with sessions; a client that asks for one of them gets it, as the lifecycle of MCP has it. */
const revisions = new Set(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']);

// What tools answer in practice: log lines and prose with quotes, line breaks, digits, @ and +, in which nothing is to be redacted, so
// that every arm hands the same bytes on. Plain ASCII: characters are bytes.
const passage =
  '2026-11-30T21:04:17Z  GET /packages/@acme/ledger-client?page=12  200  18.4 ms\n' +
  'A sally port has two doors that are "never" open together; build 4711 of c++-tools passed 1,204 checks.\n';
const results = new Map<number, Buffer>();

/** What every answer's text begins with, as far as the asked size reaches. */
export const opening = passage.slice(0, 60);

/** `"result":{…}` of a call, as bytes. */
function resultOf(size: number): Buffer {
  const known = results.get(size);
  if (known !== undefined) return known;
  const text = passage.repeat(Math.ceil(size / passage.length)).slice(0, size);
  const made = Buffer.from(`"result":${JSON.stringify({ content: [{ type: 'text', text }] })}`);
  results.set(size, made);
  return made;
}

/** The member that answers a request, `"result":…` or `"error":…`, without the braces around it. */
export function answer({ method, params }: Request): Buffer {
  if (method === 'tools/call') return resultOf(params?.arguments?.size ?? 100);
  if (method === 'tools/list') return Buffer.from(`"result":${JSON.stringify({ tools })}`);
  if (method === 'ping') return Buffer.from('"result":{}');
  if (method !== 'initialize') return Buffer.from('"error":{"code":-32601,"message":"Method not found"}');
  const asked = params?.protocolVersion ?? '';
  const protocolVersion = revisions.has(asked) ? asked : '2025-11-25';
  const serverInfo = { name: 'bench-upstream', version: '1' };
  return Buffer.from(`"result":${JSON.stringify({ protocolVersion, capabilities: { tools: {} }, serverInfo })}`);
}
