// Reads a request body whole and bounded. What is too long is never kept. Knows nothing of what a body says.
import { Buffer, isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';

export type BodyFault = 'too_large' | 'not_utf8';

/** True when the head announces a body. */
export function announcesBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/**
 * Calls `done` once with the whole text or what is wrong with it: at once when the announced length is too large, as soon as the
 * bound is passed otherwise. Never calls it when the peer goes away first.
 */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  done: (body: string | undefined, fault?: BodyFault) => void,
): void {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    done(undefined, 'too_large');
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
    done(undefined, 'too_large');
  };
  const finish = (): void => {
    const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length);
    if (isUtf8(bytes)) done(bytes.toString('utf8'));
    else done(undefined, 'not_utf8');
  };
  request.on('data', take);
  request.on('end', finish);
}
