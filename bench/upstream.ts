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

// What tools answer in practice: log lines and prose with quotes, line breaks, digits, @ and +, in which nothing is to be redacted, so
// that every arm hands the same bytes on. Plain ASCII: characters are bytes.
const passage =
  '2026-11-30T21:04:17Z  GET /packages/@acme/ledger-client?page=12  200  18.4 ms\n' +
  'A sally port has two doors that are "never" open together; build 4711 of c++-tools passed 1,204 checks.\n';
const results = new Map<number, string>();

function resultOf(size: number): string {
  const known = results.get(size);
  if (known !== undefined) return known;
  const text = passage.repeat(Math.ceil(size / passage.length)).slice(0, size);
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
