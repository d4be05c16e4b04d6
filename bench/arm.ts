// What the benchmark needs to know of anything it measures. A peer or another kind of upstream is one more file in arms/.

export type Tool = 'read' | 'write';

/**
 * What is spoken on either side of the arm: HTTP to a stdio upstream, HTTP to an HTTP upstream, or stdio to a stdio upstream, which
 * is how clients that only start programs reach a gateway.
 */
export type Route = 'stdio' | 'http' | 'bridge';

export type ToolNames = Readonly<Record<Tool, string>>;

export interface HttpTarget {
  /** `sse` = the older HTTP+SSE transport of 2024-11-05, for a peer that has no other. */
  readonly kind: 'http' | 'sse';
  readonly url: string;
  readonly token?: string;
  readonly tools: ToolNames;
}

/** A program that the load client starts itself and talks to over pipes. */
export interface PipeTarget {
  readonly kind: 'pipe';
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly tools: ToolNames;
}

export type Target = HttpTarget | PipeTarget;

export interface RunningArm {
  readonly target: Target;
  /**
   * The process whose CPU, memory and descendants are counted. A program that the client starts over pipes is counted too; it is
   * all there is when this is absent.
   */
  readonly pid?: number;
  stop(): Promise<void>;
}

export interface Arm {
  readonly name: string;
  /** `write` is worth a row of its own only where an arm treats it differently. */
  readonly tools: readonly Tool[];
  /** Not ours but from npm: its failures are shown, those of our own arms end the run. It has one tool, `read`. */
  readonly peer?: true;
  /** The routes it cannot take, and why. */
  readonly cannot?: Readonly<Partial<Record<Route, string>>>;
  /** Fresh processes in front of a fresh upstream. */
  start(route: Route): Promise<RunningArm>;
}

/** Tools under the names the upstream gives them. */
export const ownNames: ToolNames = { read: 'read', write: 'write' };

/** The name of a row: the arm, and the tool where the arm is measured with more than one. */
export function subjectOf(arm: Arm, tool: Tool): string {
  return arm.tools.length > 1 ? `${arm.name} ${tool}` : arm.name;
}
