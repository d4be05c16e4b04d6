// Reads a request body whole and bounded. What is too long is never kept. Knows nothing of what a body says.
import { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';

/** True when the head announces a body. */
export function announcesBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/**
 * Calls `done` once with all bytes, or with nothing when they are too many: at once when the announced length is, as soon as the bound is
 * passed otherwise. Never calls it when the peer goes away first.
 */
export function readBody(request: IncomingMessage, maxBytes: number, done: (body: Buffer | undefined) => void): void {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    done(undefined);
    return;
  }
  let chunks: Buffer[] = [];
  let length = 0;
  const take = (chunk: Buffer): void => {
    length += chunk.length;
    if (length <= maxBytes) {
      chunks.push(chunk);
      return;
    }
    chunks = [];
    request.off('data', take);
    request.off('end', finish);
    done(undefined);
  };
  const finish = (): void => done(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length));
  request.on('data', take);
  request.on('end', finish);
}
