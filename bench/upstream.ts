// The raw upstream over stdio: one line in, one line out.
import { answer, type Request } from './echo.ts';
import { createLineCutter } from './lines.ts';

const end = Buffer.from('}\n');

function handle(line: Buffer): void {
  if (line.length === 0) return;
  const request = JSON.parse(line.toString()) as Request;
  if (request.id === undefined || request.method === undefined) return;
  process.stdout.write(Buffer.concat([Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(request.id)},`), answer(request), end]));
}

process.stdin.on('data', createLineCutter(handle));
process.stdin.on('end', () => process.exit(0));
