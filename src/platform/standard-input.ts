// What is piped in, as bytes and bounded: values that are too long or too many-lined for a prompt. Never read when a person sits there.
import { AppError } from '../kernel/errors.ts';

/** Everything up to the end, without the one line break at it that `echo` and editors leave. Rejects with `cli.bad_input` beyond `maxBytes`. */
export async function readStandardInput(maxBytes: number, input: AsyncIterable<Buffer> = process.stdin): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of input) {
    size += chunk.length;
    // Two for the line break.
    if (size > maxBytes + 2) {
      throw new AppError('invalid', 'cli.bad_input', `what comes on standard input is longer than ${maxBytes} bytes`, {
        hint: 'Check that it is the right file.',
      });
    }
    chunks.push(chunk);
  }
  const whole = Buffer.concat(chunks);
  for (const chunk of chunks) chunk.fill(0);
  const value = Uint8Array.from(withoutLineBreak(whole));
  whole.fill(0);
  return value;
}

function withoutLineBreak(bytes: Buffer): Buffer {
  if (bytes.at(-1) !== 0x0a) return bytes;
  return bytes.subarray(0, bytes.at(-2) === 0x0d ? -2 : -1);
}
