// An operation is declared once; MCP tool, HTTP route, CLI command and reference page are derived from it.
import type { ZodType } from 'zod';
import type { Caller } from './caller.ts';
import type { ClientHost } from './client-host.ts';
import type { JsonObject } from './json.ts';

/**
 * Who may run it. `agent`: an authenticated agent, for itself. `local`: anyone on the local socket (looks and narrowing).
 * `operator`: needs a signature over the prepared statement.
 */
export type Access = 'agent' | 'local' | 'operator';

/** `look` records nothing and works while the log is down; `change` is refused without a working log. */
export type Effect = 'look' | 'change';

export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

export interface ToolFace {
  readonly toolset: 'gate';
  /** The name on the contract page, e.g. `scopegate_can_i`. */
  readonly name: string;
  readonly annotations?: ToolAnnotations;
}

export interface CommandFace {
  /** Words after `sallyport`, e.g. `agent add`. */
  readonly words: string;
  /** Input fields taken as positional arguments, in order; the rest become `--kebab-case` options. */
  readonly positionals?: readonly string[];
  /** An input field that takes everything after `--` (an array of strings). */
  readonly rest?: string;
  /** Draws the output for a person; without it the CLI prints a plain table or key/value lines. */
  readonly draw?: (output: never) => string;
}

export interface OperationContext {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** True when the caller gave a progress token, so that a wait may exceed 55 s (DESIGN §5 Waiting). */
  readonly canProgress: boolean;
  /** The client behind an agent's call, where it can be asked. */
  readonly host?: ClientHost;
  /** Operator operations: facts of the verified, consumed proof, for the record of what was decided. Set by the gateway only. */
  readonly proofFacts?: JsonObject;
  /** What the operation declared under `secrets`, checked against what was signed. Zeroed by the gateway when `run` has settled. */
  readonly secrets?: Readonly<Record<string, Uint8Array>>;
  progress(note: { progress: number; total?: number; message?: string }): void;
}

export interface Operation<Input = unknown, Output = unknown> {
  /** `<slice>.<verb>`, lives in features/<slice>/operations/<verb>.ts. */
  readonly name: string;
  /** One sentence for `--help`; for tools the first line of the description. */
  readonly summary: string;
  /** Further description for the tool face, in Markdown. */
  readonly description?: string;
  readonly input: ZodType<Input>;
  readonly output: ZodType<Output>;
  readonly effect: Effect;
  readonly access: Access;
  readonly tool?: ToolFace;
  readonly command?: CommandFace;
  /**
   * Operator operations only: the facts a person decides on, computed from state now. They are part of what is signed;
   * the gateway computes them again before running and refuses with `operator.changed` when they differ.
   */
  readonly shown?: (input: Input, context: OperationContext) => Promise<JsonObject>;
  /**
   * The names of secrets that travel beside this input and must all be there (kernel/carried-secret.ts). For an operator operation the
   * input holds the commitment of each, so that the signature covers what it does not show.
   */
  readonly secrets?: (input: Input) => readonly string[];
  readonly run: (input: Input, context: OperationContext) => Promise<Output>;
}

/** Keeps the types of input and output together while erasing them for lists. */
export function defineOperation<Input, Output>(operation: Operation<Input, Output>): Operation {
  return operation as unknown as Operation;
}
