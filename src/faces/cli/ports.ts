// What the commands need of the world outside: two streams, perhaps a person, the running daemon, the operator's key.
// Implementations are in platform/ and handed in by app/main.ts.
import type { ProofMethod, Proof } from '../../kernel/caller.ts';
import type { CarriedSecrets } from '../../kernel/carried-secret.ts';
import type { Statement } from '../../kernel/dispatch.ts';
import type { JsonObject } from '../../kernel/json.ts';

/** A person at a terminal. Prompts go to the terminal, never into the output. */
export interface Person {
  /** One line as typed; rejects with `cli.interrupted` on Ctrl-C or end of input. */
  ask(prompt: string): Promise<string>;
  /** The same without echo. */
  askHidden(prompt: string): Promise<string>;
  /** After the last question: the terminal behaves as usual again. */
  release(): void;
}

/** The running daemon over its local socket. Every method rejects with AppError; `daemon.absent` when none runs. */
export interface DaemonLine {
  status(): Promise<JsonObject>;
  prepare(operation: string, input: unknown): Promise<Statement>;
  operate(operation: string, input: unknown, proof?: Proof, secrets?: CarriedSecrets): Promise<unknown>;
}

/** An unlocked operator key, used once and dropped. */
export interface OperatorPen {
  readonly keyId: string;
  sign(bytes: Uint8Array): Uint8Array;
  /** Forgets the private half. */
  wipe(): void;
}

/** Where the operator's key lies, locked. */
export interface OperatorKeyring {
  /** The file, for messages. */
  readonly path: string;
  exists(): Promise<boolean>;
  /** Rejects with `operator.wrong_passphrase` (kind denied) when it does not open. */
  unlock(passphrase: string): Promise<OperatorPen>;
  /** The passphrase of the configured file and how its signatures are marked; `undefined` when no file is configured. */
  passphraseFromFile(): Promise<{ readonly passphrase: string; readonly method: ProofMethod } | undefined>;
}

export interface Cli {
  /** One write to standard output, newline added. */
  out(text: string): void;
  /** One write to standard error, newline added. */
  note(text: string): void;
  /** `undefined` without a terminal: nothing may wait for an answer then. */
  readonly person: Person | undefined;
  readonly daemon: DaemonLine;
  readonly keyring: OperatorKeyring;
  /** A path from where the person stands; the daemon stands elsewhere. */
  absolute(path: string): string;
  /** Milliseconds since the Unix epoch. */
  now(): number;
}
