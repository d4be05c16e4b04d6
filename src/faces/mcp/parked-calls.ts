// The calls of one agent that wait for their client to come back with what was asked of it (2026-07-28): each under a state that is used
// once, for a bounded time. Judges whether a request may go on with a call; a call goes on or is refused, and never runs a second time.
import { AppError } from '../../kernel/errors.ts';
import type { ClientFacts } from '../../kernel/dispatch.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Clock, Entropy, Unsubscribe } from '../../kernel/ports.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import type { SharedRequest, StatelessEra } from '../../wire/era.ts';
import { ownState, responsesFault, type Resumption } from '../../wire/input-required.ts';
import { createAskingCall, type AskingCall, type Exchange } from './asking-call.ts';
import type { Calls } from './calls.ts';
import type { CallHome, ReplySlot } from './in-flight.ts';

/** Waiting at once, per agent. */
export const maxParked = 64;
/** For each question. */
export const parkedMs = 10 * 60_000;

export type CarriedRequest = Extract<SharedRequest, { kind: 'call_tool' | 'relay' }>;

/** What a call is about. Only a request that says the same goes on with it. */
export interface Claim {
  /** Of the caller: its agent, its endpoint and what its client declared. */
  readonly session: string;
  readonly request: CarriedRequest;
}

interface Parked {
  readonly call: AskingCall;
  readonly claim: Claim;
  readonly stopTimer: Unsubscribe;
}

export interface ParkedCalls {
  /** A call that may ask its client, or tell it things. */
  open(claim: Claim, exchange: Exchange, client: ClientFacts): AskingCall;
  /** Why the request may not go on with the call it names; nothing when it does. */
  resume(claim: Claim, resumption: Resumption, exchange: Exchange): string | undefined;
  /** The call that this exchange carries: the key it is in flight under. */
  carriedBy(slot: ReplySlot): ReplySlot;
  size(): number;
  /** Ends what waits, upstream as well; from now on nothing may. */
  end(why: string): void;
}

export function createParkedCalls(deps: {
  readonly era: StatelessEra;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly calls: Pick<Calls, 'cancel'>;
  readonly home: Pick<CallHome<ReplySlot>, 'calls'>;
}): ParkedCalls {
  const { era, clock, entropy, calls, home } = deps;
  const parked = new Map<string, Parked>();
  const carried = new Map<ReplySlot, AskingCall>();
  let closed: string | undefined;

  function park(call: AskingCall, claim: Claim): string {
    if (closed !== undefined) throw new AppError('unavailable', 'host.gone', closed);
    if (parked.size >= maxParked) {
      const why = `${maxParked} calls of this agent wait for input already, and no further one may.`;
      throw new AppError('unavailable', 'host.gone', why, { hint: 'Answer what they ask, or wait until they are over.' });
    }
    const state = `${ownState}${entropy.uuid()}`;
    const stopTimer = clock.after(parkedMs, () => drop(state, 'The client did not come back with what it was asked for.'));
    parked.set(state, { call, claim, stopTimer });
    return state;
  }

  /** Whoever asked hears why before the call is cancelled upstream. */
  function drop(state: string, why: string): void {
    const found = parked.get(state);
    if (found === undefined) return;
    parked.delete(state);
    found.stopTimer();
    found.call.giveUp(why);
    clock.soon(() => calls.cancel(home, found.call.slot));
  }

  return {
    open(claim, exchange, client) {
      const call = createAskingCall({
        era,
        clock,
        client,
        exchange,
        mayAsk: claim.request.kind === 'call_tool' || asking.has(claim.request.method),
        park: (asked) => park(asked, claim),
        left: (slot) => void carried.delete(slot),
      });
      carried.set(exchange.slot, call);
      return call;
    },
    resume(claim, { state, responses }, exchange) {
      const found = parked.get(state);
      if (found === undefined) return unknownState;
      if (!sameClaim(found.claim, claim)) return otherRequest;
      const fault = responsesFault(found.call.asked(), responses);
      if (fault !== undefined) return fault;
      parked.delete(state);
      found.stopTimer();
      const inFlight = home.calls.get(found.call.slot);
      if (inFlight !== undefined) inFlight.progressToken = claim.request.progressToken;
      carried.set(exchange.slot, found.call);
      found.call.resume(exchange, responses as JsonObject);
      return undefined;
    },
    carriedBy: (slot) => carried.get(slot)?.slot ?? slot,
    size: () => parked.size,
    end(why) {
      closed = why;
      for (const state of parked.keys()) drop(state, why);
    },
  };
}

/** Methods besides tools/call whose requests may be answered with a question ("Multi Round-Trip Requests"). */
const asking = new Set(['prompts/get', 'resources/read']);

export const unknownState =
  'No call waits under this "requestState": it went on already, or is over. Nothing was run. Check what the call did before you make it anew, without "requestState".';
const otherRequest =
  'This "requestState" belongs to another request. Repeat the one it was given for, with the same method, name, arguments and client capabilities.';

function sameClaim(one: Claim, other: Claim): boolean {
  return one.session === other.session && wordsOf(one.request) === wordsOf(other.request);
}

function wordsOf(request: CarriedRequest): string {
  const what = request.kind === 'call_tool' ? [request.name] : [request.method, request.target];
  return canonicalJson([...what, request.args ?? null] as Parameters<typeof canonicalJson>[0]);
}
