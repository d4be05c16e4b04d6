// What one upstream offers besides tools: prompts, resources and resource templates, read when its session begins and again whenever it
// says that they changed. A list that cannot be had never keeps the tools from being served. Decides nothing.
import type { Offering } from '../../kernel/dispatch.ts';
import { asAppError } from '../../kernel/errors.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { Clock, Digest, Log, UpstreamConnection } from '../../kernel/ports.ts';
import { hasDuplicateKeys } from '../../lib/json-text.ts';
import { hex } from './definition.ts';
import { listAll } from './listing.ts';
import type { Offer, OfferList } from './model.ts';
import { createRelisting, type Relisting } from './relisting.ts';

/** Lists that change together: a server says of both of its resource lists at once that they did. */
export type OfferKind = 'prompts' | 'resources';

/** `subscriptions`: it tells when a resource is updated. */
export type Declared = OfferKind | 'completions' | 'logging' | 'subscriptions';

export interface Offers {
  /** In the upstream's order, each key once: of entries that share one, the first. */
  of(list: OfferList): readonly Offer[];
  /** Whether the upstream said at its last start that it has such things, be there any or not. */
  declares(capability: Declared): boolean;
  /** What it said of itself then; nothing before its first start. */
  said(): Offering['upstream'];
  /** Whether it keeps what it has for each of its sessions apart. */
  keepsSessions(): boolean;
  /** Reads all lists of a fresh session and follows its notices from then on; of one that is followed already nothing. Never rejects. */
  follow(connection: UpstreamConnection, timeoutMs: number): Promise<void>;
}

export interface OffersDeps {
  readonly upstream: string;
  readonly clock: Clock;
  readonly digest: Digest;
  readonly log: Log;
  readonly changed: (kind: OfferKind) => void;
}

const listsOf: Readonly<Record<OfferKind, readonly OfferList[]>> = {
  prompts: ['prompts'],
  resources: ['resources', 'resourceTemplates'],
};
const keyOf: Readonly<Record<OfferList, string>> = { prompts: 'name', resources: 'uri', resourceTemplates: 'uriTemplate' };
const notices: ReadonlyMap<string, OfferKind> = new Map([
  ['notifications/prompts/list_changed', 'prompts'],
  ['notifications/resources/list_changed', 'resources'],
]);
const longestKey = 2_048;
const relistTimeoutMs = 30_000;
/** The upstream has the capability and not this one of its methods, which is common for templates. */
const methodNotFound = -32601;

export function createOffers({ upstream, clock, digest, log, changed }: OffersDeps): Offers {
  const known: Record<OfferList, readonly Offer[]> = { prompts: [], resources: [], resourceTemplates: [] };
  const { signal } = new AbortController();
  let followed: UpstreamConnection | undefined;

  async function take(connection: UpstreamConnection, list: OfferList, timeoutMs: number): Promise<boolean> {
    try {
      const texts = await listAll(connection, list, { timeoutMs, clock, signal });
      return connection === followed && replace(list, texts);
    } catch (thrown) {
      const { message, data } = asAppError(thrown);
      if (data?.['code'] === methodNotFound) return replace(list, []);
      // What was read before stands: an upstream that stumbles once has not changed what it offers.
      log.warn('an upstream did not list what it offers', { upstream, list, reason: message });
      return false;
    }
  }

  function replace(list: OfferList, texts: readonly string[]): boolean {
    const before = known[list];
    const offers = new Map<string, Offer>();
    for (const text of texts) {
      const key = readKey(text, keyOf[list]);
      if (key !== undefined && !offers.has(key)) offers.set(key, { upstream, key, text, hash: hex(digest.sha256(text)) });
    }
    if (offers.size < texts.length)
      log.warn('entries without a key of their own are left out', { upstream, list, entries: texts.length - offers.size });
    known[list] = [...offers.values()];
    return before.length !== known[list].length || before.some(({ hash }, place) => known[list][place]?.hash !== hash);
  }

  async function read(connection: UpstreamConnection, kind: OfferKind, timeoutMs: number): Promise<void> {
    const differs = await Promise.all(listsOf[kind].map((list) => take(connection, list, timeoutMs)));
    if (differs.includes(true)) changed(kind);
  }

  return {
    of: (list) => known[list],
    declares(capability) {
      const { resources, ...others } = followed?.capabilities ?? {};
      if (capability === 'subscriptions') return isObject(resources) && resources['subscribe'] === true;
      return (capability === 'resources' ? resources : others[capability]) !== undefined;
    },
    said() {
      if (followed === undefined) return undefined;
      const { serverInfo, instructions, capabilities } = followed;
      return { serverInfo, instructions, capabilities };
    },
    keepsSessions: () => followed?.perSession === true,
    async follow(connection, timeoutMs) {
      if (connection === followed) return;
      followed = connection;
      const again = (kind: OfferKind): Relisting =>
        createRelisting(async () => {
          if (connection === followed) await read(connection, kind, relistTimeoutMs);
        }, clock);
      const relistings = { prompts: again('prompts'), resources: again('resources') };
      connection.onNotification((method) => {
        const kind = notices.get(method);
        if (kind !== undefined) relistings[kind].request();
      });
      await Promise.all([read(connection, 'prompts', timeoutMs), read(connection, 'resources', timeoutMs)]);
    },
  };
}

/** Of an entry that two readers would read alike; every other has none. */
function readKey(text: string, member: string): string | undefined {
  if (!text.isWellFormed()) return undefined;
  const value = JSON.parse(text) as Json;
  if (!isObject(value) || hasDuplicateKeys(text)) return undefined;
  const key = value[member];
  return typeof key === 'string' && key !== '' && key.length <= longestKey ? key : undefined;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
