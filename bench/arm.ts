// What the benchmark needs to know of anything it measures. A peer or another kind of upstream is one more file in arms/.

export type Tool = 'read' | 'write';

/** How the load client reaches an arm. */
export type Target =
  | { readonly kind: 'http'; readonly url: string; readonly token?: string; readonly tools: Readonly<Record<Tool, string>> }
  /** The client starts the upstream itself and talks to it over pipes. */
  | { readonly kind: 'pipe'; readonly command: string; readonly args: readonly string[] };

export interface RunningArm {
  readonly target: Target;
  /** The process whose CPU, memory and children are counted; absent = the upstream the client starts. */
  readonly pid?: number;
  stop(): Promise<void>;
}

export interface Arm {
  readonly name: string;
  /** `write` is worth a row of its own only where an arm treats it differently. */
  readonly tools: readonly Tool[];
  /** Fresh processes in front of a fresh upstream. */
  start(): Promise<RunningArm>;
}
