// What the sessions of one upstream want to be told, asked for on every connection that serves them, again on each new one, and passed on
// when it comes. Opens no connection.
import type { LogLevel } from '../../kernel/dispatch.ts';
import { asAppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Log, UpstreamConnection, UpstreamRequestOptions } from '../../kernel/ports.ts';
import type { Party, ResourceUpdate, TaskNotice } from './model.ts';
import { createWishes, type Circle, type Wishes } from './wishes.ts';

export interface Following extends Pick<Wishes, 'followed' | 'levelOf' | 'party' | 'someone' | 'any'> {
  /**
   * Joins a fresh connection, which serves everybody or the sessions of this circle. Whatever they asked for before is asked for on it,
   * and what they follow counts as changed: nobody listened in between. Resolves when the upstream knows; never rejects.
   */
  join(connection: UpstreamConnection, circle: Circle | undefined): Promise<void>;
  /** The upstream agreed on this connection to tell of it. */
  follow(party: Party, uri: string): void;
  /** Of those on the connection of the session nobody may be left who follows it; then the upstream is told. */
  unfollow(session: string, uri: string, connection: UpstreamConnection | undefined, circle: Circle): void;
  logLevel(party: Party, level: LogLevel | undefined, connection: UpstreamConnection | undefined, circle: Circle): void;
  end(session: string, connection: UpstreamConnection | undefined, circle: Circle): void;
}

export interface FollowingDeps {
  readonly upstream: string;
  readonly updated: (update: ResourceUpdate) => void;
  readonly taskNoticed: (notice: TaskNotice) => void;
  readonly ending: AbortSignal;
  readonly log: Log;
}

const taskMethod = 'notifications/tasks/status';
const updatedMethod = 'notifications/resources/updated';
const askTimeoutMs = 10_000;
/** The revision whose requests say themselves what they want to hear. */
const levelless = '2026-07-28';
const everybody: Circle = () => true;

export function createFollowing({ upstream, updated, taskNoticed, ending, log }: FollowingDeps): Following {
  const wishes = createWishes();
  const options: UpstreamRequestOptions = { signal: ending, timeoutMs: askTimeoutMs };

  /** What is wished for may be more than the upstream can; whoever wished is not told so a second time. */
  async function ask(what: string, asked: Promise<{ readonly kind: 'result' | 'error' }>): Promise<boolean> {
    try {
      if ((await asked).kind === 'result') return true;
      log.debug('an upstream refused what a session wants to be told', { upstream, what });
    } catch (thrown) {
      if (!ending.aborted) log.debug('an upstream was not asked', { upstream, what, reason: asAppError(thrown).message });
    }
    return false;
  }

  async function setLevel(connection: UpstreamConnection, level: LogLevel): Promise<void> {
    if (connection.capabilities['logging'] === undefined || connection.protocolVersion === levelless) return;
    await ask('logging/setLevel', connection.request('logging/setLevel', JSON.stringify({ level }), options));
  }

  function taskNotice(params: JsonObject, text: string, among: Circle): void {
    const { taskId: id, status } = params;
    if (typeof id === 'string') taskNoticed({ upstream, among, id, status: typeof status === 'string' ? status : undefined, text });
  }

  function pass(circle: Circle | undefined, uri: string, text: string): void {
    if (circle === undefined) updated({ upstream, session: undefined, uri, text });
    else for (const session of wishes.concerned(circle, uri)) updated({ upstream, session, uri, text });
  }

  return {
    followed: (circle) => wishes.followed(circle),
    levelOf: (session) => wishes.levelOf(session),
    party: (session) => wishes.party(session),
    someone: (circle) => wishes.someone(circle),
    any: () => wishes.any(),
    async join(connection, circle) {
      connection.onNotification((method, params, text) => {
        if (method === taskMethod && params !== undefined && text !== undefined) taskNotice(params, text, circle ?? everybody);
        const uri = method === updatedMethod ? params?.['uri'] : undefined;
        if (typeof uri === 'string' && text !== undefined) pass(circle, uri, text);
      });
      if (!wishes.any()) return;
      const level = wishes.level(circle ?? everybody);
      await Promise.all([
        ...(level === undefined ? [] : [setLevel(connection, level)]),
        ...[...wishes.followed(circle ?? everybody)].map(async (uri) => {
          if (await ask(uri, connection.subscribe(uri, options))) pass(circle, uri, JSON.stringify({ uri }));
        }),
      ]);
    },
    follow: (party, uri) => wishes.follow(party, uri),
    unfollow(session, uri, connection, circle) {
      wishes.unfollow(session, uri);
      if (connection !== undefined && !wishes.followed(circle).has(uri)) void ask(uri, connection.unsubscribe(uri, options));
    },
    logLevel(party, level, connection, circle) {
      const before = wishes.level(circle);
      wishes.logLevel(party, level);
      const now = wishes.level(circle);
      // Nobody wants any of it any more: only what no server may keep to itself is still sent.
      if (connection !== undefined && now !== before) void setLevel(connection, now ?? 'emergency');
    },
    end(session, connection, circle) {
      const before = wishes.level(circle);
      const left = wishes.drop(session);
      if (left === undefined || connection === undefined) return;
      const followed = wishes.followed(circle);
      for (const uri of left.uris) if (!followed.has(uri)) void ask(uri, connection.unsubscribe(uri, options));
      const now = wishes.level(circle);
      if (now !== before) void setLevel(connection, now ?? 'emergency');
    },
  };
}
