// The raw load client's two faces: a door that opens MCP sessions, and what counts as a good answer.
import type { Tool } from './arm.ts';
import { opening } from './echo.ts';

export const protocolVersion = '2025-11-25';

export const initializeParams = { protocolVersion, capabilities: {}, clientInfo: { name: 'bench', version: '1' } };

export interface Session {
  /** One `tools/call`; rejects unless the whole answer came back as a result. */
  call(tool: Tool, size: number): Promise<void>;
  close(): Promise<void>;
}

export interface Door {
  /** The upstream this door started itself, if it did. */
  readonly pid?: number;
  open(): Promise<Session>;
  close(): void;
}

/**
 * Length proves a large answer, since a refusal is short, and its first words that it is the upstream's; small ones are read whole.
 * Keeps the client's own cost out of the 1 MB cells. Throws with the answer's first words.
 */
export function assertAnswered(answer: Buffer, size: number): void {
  const whole = answer.length >= size;
  const text = answer.toString('utf8', 0, whole && answer.length >= 8192 ? 512 : 8192);
  const begins = text.includes(opening.slice(0, size));
  if (whole && begins && text.includes('"result":') && !text.includes('"isError":true')) return;
  throw new Error(`not the asked result of ${size} bytes: ${text.slice(0, 400)}`);
}
