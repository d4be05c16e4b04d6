// The raw stdio MCP server behind every arm: two tools that answer a text of the asked size from memory.
// Hand-written so that it costs next to nothing and the arm in front of it is what is measured.

interface Request {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly arguments?: { readonly size?: number } };
}

const input = { type: 'object', properties: { size: { type: 'integer', minimum: 1 } }, required: ['size'] };
const tools = [
  { name: 'read', description: 'Answers a text of `size` bytes.', inputSchema: input, annotations: { readOnlyHint: true } },
  { name: 'write', description: 'The same answer from a tool that promises nothing about effects.', inputSchema: input },
];

// Prose with line breaks and quotes, so that JSON escapes are part of the load; no digits, at signs or keys to redact.
const sentence = 'A sally port has two doors that are "never" open together.\nNothing passes between them undecided.\n';
const results = new Map<number, string>();

function resultOf(size: number): string {
  const known = results.get(size);
  if (known !== undefined) return known;
  const text = sentence.repeat(Math.ceil(size / sentence.length)).slice(0, size);
  const made = JSON.stringify({ content: [{ type: 'text', text }] });
  results.set(size, made);
  return made;
}

function answer({ method, params }: Request): string {
  if (method === 'tools/call') return `"result":${resultOf(params?.arguments?.size ?? 100)}`;
  if (method === 'tools/list') return `"result":${JSON.stringify({ tools })}`;
  if (method === 'ping') return '"result":{}';
  if (method !== 'initialize') return '"error":{"code":-32601,"message":"Method not found"}';
  const serverInfo = { name: 'bench-upstream', version: '1' };
  return `"result":${JSON.stringify({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo })}`;
}

function handle(line: string): void {
  const request = JSON.parse(line) as Request;
  if (request.id === undefined || request.method === undefined) return;
  process.stdout.write(`{"jsonrpc":"2.0","id":${JSON.stringify(request.id)},${answer(request)}}\n`);
}

let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk: string) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop() ?? '';
  for (const line of lines) if (line.trim() !== '') handle(line);
});
process.stdin.on('end', () => process.exit(0));
