// What an upstream asks back (server-to-client requests of MCP): each goes to one client and its answer comes back as the bytes it was.
// Bounded in number and time; over when the upstream takes it back or its connection ends. Which client that is, others say.
import type { ClientHost } from '../kernel/client-host.ts';
import { asAppError } from '../kernel/errors.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { Clock } from '../kernel/ports.ts';
import type { Frame } from './frame-slice.ts';
import { rpcCode } from './jsonrpc.ts';
import { withoutMeta } from './request-meta.ts';

export const mostAsks = 64;
/** A person may take this long, in all, for what one call asks. */
export const longestAskMs = 10 * 60_000;
const maxMethodShown = 64;

type AskFrame = Extract<Frame, { kind: 'request' }>;

/** Whom to ask, and the calls that wait for the answer. */
export interface AskRoute {
  readonly host: ClientHost;
  /** Their deadlines stand still from now on. Returns what makes them go on. */
  readonly pause: (over: () => void) => () => void;
}

export interface Asks {
  /** `undefined`: it cannot be told whose call this is about. */
  receive(frame: AskFrame, route: () => AskRoute | undefined): void;
  /** The upstream takes one back (`notifications/cancelled`). */
  cancelled(params: JsonObject | undefined): void;
  outstanding(): number;
  /** Nobody is there any more to hear answers. */
  end(): void;
}

export interface AsksDeps {
  readonly clock: Clock;
  /** Throws when the channel is closed or too far behind. */
  readonly send: (line: string) => void;
  /** Whether the upstream was told of any client that could be asked. */
  readonly declared: boolean;
}

export function createAsks({ clock, send, declared }: AsksDeps): Asks {
  const running = new Map<string, AbortController>();
  let ended = false;

  function respond(id: string, outcome: string): void {
    if (ended) return;
    try {
      send(`{"jsonrpc":"2.0","id":${id},${outcome}}`);
    } catch {
      // It asks faster than it reads: its questions may go unanswered, our requests may not.
    }
  }

  function refuse(id: string, code: number, message: string): void {
    respond(id, `"error":${JSON.stringify({ code, message })}`);
  }

  function tell(params: JsonObject): void {
    try {
      send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params }));
    } catch {
      // The same; progress is the first thing that can be missed.
    }
  }

  async function ask(frame: AskFrame, { host, pause }: AskRoute): Promise<void> {
    const key = keyOf(JSON.parse(frame.id) as Json);
    if (running.has(key)) return refuse(frame.id, rpcCode.invalidRequest, 'A request with this id is being answered.');
    const taken = new AbortController();
    let late = false;
    const giveUp = (): void => {
      late = true;
      taken.abort();
    };
    running.set(key, taken);
    const goOn = pause(giveUp);
    const stopTimer = clock.after(longestAskMs, giveUp);
    const token = tokenOf(frame.params);
    const over = (): boolean => running.get(key) !== taken;
    try {
      const reply = await host.ask({
        method: frame.method,
        params: token === undefined || frame.text === undefined ? frame.text : withoutMeta(frame.text, 'progressToken'),
        signal: taken.signal,
        ...(token === undefined ? {} : { onProgress: (note) => void (over() || tell({ ...note, progressToken: token })) }),
      });
      if (!taken.signal.aborted) respond(frame.id, reply.kind === 'result' ? `"result":${reply.json}` : `"error":${reply.json}`);
      else if (late) refuse(frame.id, rpcCode.serverError, 'Nobody answered in time.');
    } catch (thrown) {
      const { kind, message } = asAppError(thrown);
      if (late) refuse(frame.id, rpcCode.serverError, 'Nobody answered in time.');
      // What was taken back wants no answer (MCP, "Cancellation").
      else if (!taken.signal.aborted)
        refuse(frame.id, rpcCode.internalError, kind === 'internal' ? 'The client could not be asked.' : message);
    } finally {
      stopTimer();
      running.delete(key);
      goOn();
    }
  }

  return {
    receive(frame, route) {
      const { id, method } = frame;
      if (method === 'ping') return respond(id, '"result":{}');
      // Told of nobody, it has nothing to ask for.
      if (!declared) return refuse(id, rpcCode.methodNotFound, `Method not found: ${method.slice(0, maxMethodShown)}`);
      if (running.size >= mostAsks)
        return refuse(id, rpcCode.serverError, `More than ${mostAsks} requests wait for an answer; make fewer at once.`);
      const found = route();
      if (found !== undefined) return void ask(frame, found);
      const what = method.slice(0, maxMethodShown);
      refuse(id, rpcCode.methodNotFound, `${what} is refused: it cannot be told whose call this is about.`);
    },
    cancelled(params) {
      const id = params?.['requestId'];
      if (id !== undefined) running.get(keyOf(id))?.abort();
    },
    outstanding: () => running.size,
    end() {
      ended = true;
      for (const taken of running.values()) taken.abort();
    },
  };
}

/** Ids are told apart by value: a server may spell a number one way here and another there. */
function keyOf(id: Json): string {
  return JSON.stringify(id);
}

function tokenOf(params: JsonObject | undefined): string | number | undefined {
  const meta = params?.['_meta'];
  if (typeof meta !== 'object' || meta === null) return undefined;
  const token = (meta as JsonObject)['progressToken'];
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
}
