// The books of who follows what, found by resource and by session, bounded for each. Decides nothing.
import type { AgentCaller } from '../../kernel/caller.ts';
import type { ClientHost } from '../../kernel/client-host.ts';
import { AppError } from '../../kernel/errors.ts';

/** One client of an agent that follows one resource. */
export interface Followed {
  readonly caller: AgentCaller;
  readonly upstream: string;
  readonly uri: string;
  readonly capability: string;
  readonly host: ClientHost;
}

export interface Followers {
  has(followed: Followed): boolean;
  /** Throws `gateway.too_many_followed` (kind limited). */
  assertRoom(caller: AgentCaller): void;
  add(followed: Followed): void;
  /** False when it was not there. */
  remove(followed: Followed): boolean;
  of(upstream: string, uri: string): readonly Followed[];
  ofSession(session: string): readonly Followed[];
  ofUpstream(upstream: string): readonly Followed[];
  anyOf(session: string, upstream: string, uri: string): boolean;
}

export const mostFollowed = { perSession: 256, perAgent: 1_024 } as const;

export function createFollowers(): Followers {
  const byResource = new Map<string, Followed[]>();
  const bySession = new Map<string, Followed[]>();
  const perAgent = new Map<string, number>();

  function same(one: Followed, other: Followed): boolean {
    return (
      one.caller.session === other.caller.session &&
      one.host === other.host &&
      one.uri === other.uri &&
      one.upstream === other.upstream
    );
  }

  const of = (upstream: string, uri: string): readonly Followed[] => byResource.get(placeOf(upstream, uri)) ?? [];
  const ofSession = (session: string): readonly Followed[] => bySession.get(session) ?? [];

  return {
    has: (followed) => ofSession(followed.caller.session).some((other) => same(followed, other)),
    assertRoom({ agent, session }) {
      const [room, whose] =
        ofSession(session).length >= mostFollowed.perSession
          ? ([mostFollowed.perSession, 'session'] as const)
          : ([mostFollowed.perAgent, 'agent'] as const);
      if (whose === 'agent' && (perAgent.get(agent) ?? 0) < room) return;
      throw new AppError('limited', 'gateway.too_many_followed', `This ${whose} follows ${room} resources already.`, {
        hint: 'Unsubscribe from some of them first.',
      });
    },
    add(followed) {
      const { caller, upstream, uri } = followed;
      const place = placeOf(upstream, uri);
      byResource.set(place, [...of(upstream, uri), followed]);
      bySession.set(caller.session, [...ofSession(caller.session), followed]);
      perAgent.set(caller.agent, (perAgent.get(caller.agent) ?? 0) + 1);
    },
    remove(followed) {
      const { caller, upstream, uri } = followed;
      if (!ofSession(caller.session).some((other) => same(followed, other))) return false;
      drop(byResource, placeOf(upstream, uri), followed);
      drop(bySession, caller.session, followed);
      const left = (perAgent.get(caller.agent) ?? 0) - 1;
      if (left > 0) perAgent.set(caller.agent, left);
      else perAgent.delete(caller.agent);
      return true;
    },
    of,
    ofSession,
    ofUpstream: (upstream) => [...bySession.values()].flat().filter((followed) => followed.upstream === upstream),
    anyOf: (session, upstream, uri) => of(upstream, uri).some(({ caller }) => caller.session === session),
  };

  function drop(books: Map<string, Followed[]>, key: string, followed: Followed): void {
    const left = (books.get(key) ?? []).filter((other) => !same(followed, other));
    if (left.length > 0) books.set(key, left);
    else books.delete(key);
  }
}

/** No name of an upstream holds a colon. */
function placeOf(upstream: string, uri: string): string {
  return `${upstream}:${uri}`;
}
