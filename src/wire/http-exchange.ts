// One HTTP request and its answer, without a word of node: what the faces see of a TCP door.

export interface HttpHead {
  /** Upper case, as sent. */
  readonly method: string;
  /** Without query; starts with `/`. */
  readonly path: string;
  /** Lower-case names. A header sent twice is one value joined with a comma, or its first value where it may not repeat. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** The names and values one after another: `['Allow', 'GET', …]`. */
export type HeaderList = readonly string[];

export interface HttpReply {
  /** The whole answer at once, its body in one text or in parts. Does nothing when the peer is gone or the answer was given. */
  send(status: number, headers: HeaderList, body: string | readonly string[]): void;
  /** Starts a 200 answer of unknown length; its head leaves with the first `write`. */
  open(headers: HeaderList): void;
  write(text: string): void;
  end(): void;
  /** Bytes written that the peer has not taken yet. */
  backlog(): number;
  /** Cuts the connection, for a peer that does not take what it asked for. */
  cut(): void;
  /** Called once if the peer goes away before the answer is finished. One listener; the last one given counts. */
  onGone(listener: () => void): void;
}

export type BodyHandler = (body: string) => void;

/**
 * Looks at the head before any of the body is read. Either it answers through `reply`, at once or later, and returns nothing: a body
 * that comes all the same is thrown away. Or it returns what takes the body, which is called once with the whole of it as text.
 */
export type HttpHandler = (head: HttpHead, reply: HttpReply) => BodyHandler | undefined;

/** A refusal the door makes by itself, for the record. `host` and `origin` are printable and short. */
export type DoorRefusal =
  | { readonly reason: 'wrong_host'; readonly host: string }
  | { readonly reason: 'wrong_origin'; readonly origin: string };
