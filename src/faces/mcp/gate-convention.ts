// The gate toolset's way of answering a tools/call (gate contract, "Response conventions"): outputs as pretty JSON text, misuse as
// `ERROR: …`, every other failure as a JSON envelope with kind and next_action. Gives texts; the era makes MCP results of them.
import type { AppError } from '../../kernel/errors.ts';
import { drawingOf, hidden, type Envelope } from './gate-failures.ts';

export interface ToolText {
  readonly text: string;
  readonly isError: boolean;
}

export function drawOutput(output: unknown): ToolText {
  return { text: pretty(output ?? {}), isError: false };
}

/** `toolName` is the name the agent used. */
export function drawFailure(error: AppError, toolName: string): ToolText {
  if (error.code === 'gateway.unknown_tool') return { text: `ERROR: Unknown tool '${toolName}'`, isError: true };
  const drawing = drawingOf(error);
  if (drawing === 'misuse') return { text: misuse(error), isError: true };
  if (drawing === 'hidden')
    return { text: envelope(hidden, 'The gateway could not do this.', hidden.step, undefined), isError: true };
  return { text: envelope(drawing, error.message, error.hint ?? drawing.step, error.retryAfterMs), isError: true };
}

function misuse({ message, hint }: AppError): string {
  return hint === undefined ? `ERROR: ${message}` : `ERROR: ${message} ${hint}`;
}

function envelope({ kind, next }: Envelope, message: string, step: string, retryAfterMs: number | undefined): string {
  return pretty({
    error: true,
    kind,
    message,
    ...(retryAfterMs === undefined ? {} : { retry_after_s: Math.max(1, Math.ceil(retryAfterMs / 1_000)) }),
    next_action: next,
    next_step: step,
  });
}

function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
