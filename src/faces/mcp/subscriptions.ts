// The subscriptions of agents without sessions (2026-07-28, subscriptions/listen): acknowledged first, then notices, each tagged with the
// subscription it is for. Bounded per agent. Knows no HTTP and decides nothing.
import type { ChangingList, Dispatch, ToolScope } from '../../kernel/dispatch.ts';
import type { Clock } from '../../kernel/ports.ts';
import { offersTools } from '../../wire/capabilities.ts';
import type { NoticeFilter, StatelessEra } from '../../wire/era.ts';
import { encodeError, encodeResult, type RequestId } from '../../wire/jsonrpc.ts';
import type { NoticeStream } from './in-flight.ts';
import { createResourceFollowers, type Follower } from './resource-followers.ts';
import { callerOf } from './stateless-caller.ts';

export interface Subscriptions {
  /** The error that answers it where no further subscription is given, else nothing: `stream` is, or will be, acknowledged. */
  open(agent: string, scope: ToolScope, id: RequestId, wished: NoticeFilter, stream: NoticeStream): string | undefined;
  /** The stream is gone. */
  close(agent: string, stream: NoticeStream): void;
  /** Its clients hear that the end is meant. */
  endAgent(agent: string): void;
  endAll(): void;
  listChanged(list: ChangingList): void;
  keepAlive(): void;
  count(): number;
}

interface Subscription {
  readonly id: RequestId;
  readonly lists: readonly ChangingList[];
  readonly scope: ToolScope;
  readonly follower: Follower;
  /** What is followed for it. */
  readonly uris: Set<string>;
  /** What came before it could be acknowledged: each notice once, by its text. */
  waiting: Set<string> | undefined;
}

/** What a subscription waits for upstreams to agree; those that have not said so by then are left out of it. */
export const agreementMs = 10_000;

export function createSubscriptions(deps: {
  readonly era: StatelessEra;
  readonly dispatch: Dispatch;
  readonly clock: Clock;
  /** Per agent. */
  readonly limit: number;
  /** Somebody listens, and has to be kept alive. */
  readonly awake: () => void;
}): Subscriptions {
  const { era, dispatch, clock, limit, awake } = deps;
  const { notifications, results } = era;
  const agents = new Map<string, Map<NoticeStream, Subscription>>();
  const followers = createResourceFollowers(dispatch);

  function drop(agent: string, stream: NoticeStream): Subscription | undefined {
    const streams = agents.get(agent);
    const subscription = streams?.get(stream);
    if (streams === undefined || subscription === undefined) return undefined;
    streams.delete(stream);
    if (streams.size === 0) agents.delete(agent);
    const { scope, uris, follower } = subscription;
    for (const uri of uris) followers.unfollow(callerOf(agent, scope), scope, uri, follower);
    return subscription;
  }

  /** A stream that merely breaks off would say that something went wrong. */
  function end(agent: string, stream: NoticeStream): void {
    const subscription = drop(agent, stream);
    if (subscription === undefined) return;
    stream.send(encodeResult(subscription.id, results.listened(subscription.id)));
    stream.end();
  }

  function tell(stream: NoticeStream, { waiting }: Subscription, notice: string): void {
    if (waiting === undefined) stream.send(notice);
    else waiting.add(notice);
  }

  function acknowledge(agent: string, stream: NoticeStream, subscription: Subscription): void {
    const { id, lists, uris, waiting } = subscription;
    stream.send(notifications.acknowledged(id, { lists, resources: [...uris] }));
    subscription.waiting = undefined;
    for (const notice of waiting ?? []) stream.send(notice);
    // Nothing would ever come: the client learns it at once, and nobody keeps the connection.
    if (lists.length === 0 && uris.size === 0) end(agent, stream);
  }

  async function follow(agent: string, subscription: Subscription, uri: string): Promise<void> {
    const { scope, follower, uris } = subscription;
    const caller = callerOf(agent, scope);
    uris.add(uri);
    if (await intime(followers.follow(caller, scope, uri, follower))) return;
    if (uris.delete(uri)) followers.unfollow(caller, scope, uri, follower);
  }

  function intime(agreed: Promise<boolean>): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const stop = clock.after(agreementMs, () => resolve(false));
    void agreed.then(resolve);
    return promise.finally(stop);
  }

  return {
    open(agent, scope, id, wished, stream) {
      const streams = agents.get(agent) ?? new Map<NoticeStream, Subscription>();
      if (streams.size >= limit) {
        return encodeError(id, era.codes.refused, `This agent has ${limit} subscriptions open already. Close some of them.`);
      }
      const offering = dispatch.offering(callerOf(agent, scope), scope);
      const resources = offering.subscriptions ? wished.resources : [];
      const subscription: Subscription = {
        id,
        scope,
        lists: wished.lists.filter((list) => (list === 'tools' ? offersTools(offering) : offering[list])),
        follower: (params) => tell(stream, subscription, notifications.resourceUpdated(id, params)),
        uris: new Set(),
        waiting: resources.length === 0 ? undefined : new Set(),
      };
      agents.set(agent, streams.set(stream, subscription));
      awake();
      if (resources.length === 0) acknowledge(agent, stream, subscription);
      else {
        void Promise.all(resources.map((uri) => follow(agent, subscription, uri))).then(() => {
          if (agents.get(agent)?.get(stream) === subscription) acknowledge(agent, stream, subscription);
        });
      }
      return undefined;
    },
    close: (agent, stream) => void drop(agent, stream),
    endAgent(agent) {
      for (const stream of agents.get(agent)?.keys() ?? []) end(agent, stream);
    },
    endAll() {
      for (const [agent, streams] of agents) for (const stream of streams.keys()) end(agent, stream);
    },
    listChanged(list) {
      for (const streams of agents.values()) {
        for (const [stream, subscription] of streams) {
          if (subscription.lists.includes(list)) tell(stream, subscription, notifications.listChanged(subscription.id, list));
        }
      }
    },
    keepAlive() {
      for (const streams of agents.values()) for (const stream of streams.keys()) stream.keepAlive();
    },
    count() {
      let open = 0;
      for (const streams of agents.values()) open += streams.size;
      return open;
    },
  };
}
