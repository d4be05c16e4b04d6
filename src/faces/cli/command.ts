// A command of `sallyport`: words, an input schema and what to do. Derived from an operation, or written by the app.
import type { ZodType } from 'zod';
import type { Cli } from './ports.ts';

export interface Invocation {
  /** As typed on the command line, by field name, before the schema's defaults and transforms. */
  readonly given: Readonly<Record<string, unknown>>;
  /** Print exactly the output as one line of JSON. */
  readonly json: boolean;
}

export interface Command {
  readonly words: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly input: ZodType;
  /** Field names, in order. */
  readonly positionals: readonly string[];
  /** The field that takes everything after `--`. */
  readonly rest?: string;
  /** What follows `sallyport ` on an example's line. */
  readonly examples?: readonly string[];
  /** Says in `--help` that the operator's signature is asked for. */
  readonly signed: boolean;
  /** The exit code: 0, or 1 when the answer itself is a failure. Rejects with AppError. */
  run(invocation: Invocation, cli: Cli): Promise<number>;
}
