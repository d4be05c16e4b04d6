// Who of an agent without sessions is told of which resource. To the gateway all subscriptions of one caller are one host, so a resource
// is followed once however many of them name it, and until the last is gone. Knows no stream and no revision.
import type { AgentCaller } from '../../kernel/caller.ts';
import type { ClientHost } from '../../kernel/client-host.ts';
import type { Dispatch, ToolScope } from '../../kernel/dispatch.ts';
import { AppError } from '../../kernel/errors.ts';
import { plainPrefixes } from '../../lib/plain-prefixes.ts';

/** `params` is the JSON text of what the upstream said of the update. */
export type Follower = (params: string) => void;

interface Followed {
  readonly followers: Set<Follower>;
  readonly abort: AbortController;
  /** Whether the gateway agreed. */
  readonly agreed: Promise<boolean>;
}

interface Place {
  readonly host: ClientHost;
  readonly byUri: Map<string, Followed>;
}

export interface ResourceFollowers {
  /** Resolves with whether updates will come. */
  follow(caller: AgentCaller, scope: ToolScope, uri: string, follower: Follower): Promise<boolean>;
  unfollow(caller: AgentCaller, scope: ToolScope, uri: string, follower: Follower): void;
}

export function createResourceFollowers(dispatch: Pick<Dispatch, 'follow' | 'unfollow'>): ResourceFollowers {
  const places = new Map<string, Place>();

  function placeOf(session: string): Place {
    let place = places.get(session);
    if (place === undefined) places.set(session, (place = createPlace()));
    return place;
  }

  function begin(caller: AgentCaller, scope: ToolScope, uri: string, { host, byUri }: Place): Followed {
    const abort = new AbortController();
    const agreed = dispatch.follow(caller, { scope, uri, host, signal: abort.signal }).then(
      () => true,
      () => {
        if (byUri.get(uri) === followed) forget(caller.session, uri);
        return false;
      },
    );
    const followed: Followed = { followers: new Set(), abort, agreed };
    byUri.set(uri, followed);
    return followed;
  }

  function forget(session: string, uri: string): void {
    const byUri = places.get(session)?.byUri;
    byUri?.delete(uri);
    if (byUri?.size === 0) places.delete(session);
  }

  return {
    follow(caller, scope, uri, follower) {
      const place = placeOf(caller.session);
      const followed = place.byUri.get(uri) ?? begin(caller, scope, uri, place);
      followed.followers.add(follower);
      return followed.agreed;
    },
    unfollow(caller, scope, uri, follower) {
      const place = places.get(caller.session);
      const followed = place?.byUri.get(uri);
      if (place === undefined || followed?.followers.delete(follower) !== true || followed.followers.size > 0) return;
      forget(caller.session, uri);
      followed.abort.abort();
      void followed.agreed.then((agreed) => {
        // Somebody may have come for it again meanwhile.
        if (agreed && !places.get(caller.session)?.byUri.has(uri)) dispatch.unfollow(caller, { scope, uri, host: place.host });
      });
    },
  };
}

function createPlace(): Place {
  const byUri: Place['byUri'] = new Map();
  return {
    byUri,
    host: {
      capabilities: {},
      info: undefined,
      ask: () => Promise.reject(new AppError('unavailable', 'host.gone', 'A subscription cannot be asked for anything.')),
      notify(method, params) {
        if (method !== 'notifications/resources/updated' || params === undefined) return;
        const { uri } = JSON.parse(params) as { readonly uri?: unknown };
        if (typeof uri !== 'string') return;
        for (const follower of concerned(byUri, uri)) follower(params);
      },
    },
  };
}

/** Each once. What is followed may be told of by its parts ("Subscriptions"). */
function concerned(byUri: Place['byUri'], uri: string): ReadonlySet<Follower> {
  return new Set(plainPrefixes(uri).flatMap((whole) => [...(byUri.get(whole)?.followers ?? [])]));
}
