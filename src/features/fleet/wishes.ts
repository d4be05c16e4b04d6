// What agent sessions asked one upstream to tell them: log messages from a level on, and updates of resources. Kept apart from the
// connections it was asked on, so that it outlives them. Sends nothing.
import { logLevels, type LogLevel } from '../../kernel/dispatch.ts';
import type { Party } from './model.ts';

interface Wish {
  party: Party;
  level: LogLevel | undefined;
  readonly uris: Set<string>;
}

/** Whose wishes one connection serves. */
export type Circle = (party: Pick<Party, 'agent' | 'session'>) => boolean;

export interface Wishes {
  follow(party: Party, uri: string): void;
  unfollow(session: string, uri: string): void;
  logLevel(party: Party, level: LogLevel | undefined): void;
  /** Everything the session wished for is forgotten; what that was comes back. */
  drop(session: string): { readonly party: Party; readonly uris: readonly string[] } | undefined;
  party(session: string): Party | undefined;
  /** Somebody of the circle who follows something. */
  someone(circle: Circle): Party | undefined;
  levelOf(session: string): LogLevel | undefined;
  /** The least severe level anybody of the circle wants; `undefined` where nobody said. */
  level(circle: Circle): LogLevel | undefined;
  /** Each URI that somebody of the circle follows, once. */
  followed(circle: Circle): ReadonlySet<string>;
  /** The sessions of the circle whom an update of this URI concerns: what is followed may be told of by its parts (MCP, "Subscriptions"). */
  concerned(circle: Circle, uri: string): readonly string[];
  /** Is there any wish at all? */
  any(): boolean;
}

export function createWishes(): Wishes {
  const wishes = new Map<string, Wish>();

  function wishOf(party: Party): Wish {
    let wish = wishes.get(party.session);
    if (wish === undefined) wishes.set(party.session, (wish = { party, level: undefined, uris: new Set() }));
    // Who says a level may stand there without its client; what is opened for it later needs one.
    else if (party.host !== undefined) wish.party = party;
    return wish;
  }

  function tidy(session: string, { level, uris }: Wish): void {
    if (level === undefined && uris.size === 0) wishes.delete(session);
  }

  const of = (circle: Circle): readonly Wish[] => [...wishes.values()].filter(({ party }) => circle(party));

  return {
    follow: (party, uri) => void wishOf(party).uris.add(uri),
    unfollow(session, uri) {
      const wish = wishes.get(session);
      if (wish === undefined) return;
      wish.uris.delete(uri);
      tidy(session, wish);
    },
    logLevel(party, level) {
      const wish = wishOf(party);
      wish.level = level;
      tidy(party.session, wish);
    },
    drop(session) {
      const wish = wishes.get(session);
      wishes.delete(session);
      return wish === undefined ? undefined : { party: wish.party, uris: [...wish.uris] };
    },
    party: (session) => wishes.get(session)?.party,
    someone: (circle) => of(circle).find(({ uris }) => uris.size > 0)?.party,
    levelOf: (session) => wishes.get(session)?.level,
    level(circle) {
      const ranks = of(circle).flatMap(({ level }) => (level === undefined ? [] : [logLevels.indexOf(level)]));
      return ranks.length === 0 ? undefined : logLevels[Math.min(...ranks)];
    },
    followed: (circle) => new Set(of(circle).flatMap(({ uris }) => [...uris])),
    concerned: (circle, uri) =>
      of(circle)
        .filter(({ uris }) => [...uris].some((followed) => uri === followed || uri.startsWith(followed)))
        .map(({ party }) => party.session),
    any: () => wishes.size > 0,
  };
}
