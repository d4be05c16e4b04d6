// Reads a whole list of an upstream, page by page, within bounds, as the texts of its entries. Judges none of them.
import { AppError } from '../../kernel/errors.ts';
import type { Clock, UpstreamConnection } from '../../kernel/ports.ts';
import { arrayElements, objectMembers } from '../../lib/json-text.ts';

export const listingBounds = { pages: 200, entries: 5_000, chars: 16 * 1024 * 1024 } as const;

/** The lists of MCP: who declares this capability has one, asks for it by this method and finds it under this key. */
const lists = {
  tools: { capability: 'tools', method: 'tools/list', words: 'tools' },
  prompts: { capability: 'prompts', method: 'prompts/list', words: 'prompts' },
  resources: { capability: 'resources', method: 'resources/list', words: 'resources' },
  resourceTemplates: { capability: 'resources', method: 'resources/templates/list', words: 'resource templates' },
} as const;

export interface ListingOptions {
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Each entry exactly as it was sent. An upstream without the capability has none. Throws `fleet.timeout`, `fleet.exited`, or
 * `fleet.protocol` for an error answer (its code in `data.code`), a list that is none, a repeated cursor or one beyond the bounds.
 */
export async function listAll(
  connection: UpstreamConnection,
  list: keyof typeof lists,
  { timeoutMs, clock, signal }: ListingOptions,
): Promise<readonly string[]> {
  const { capability, method, words } = lists[list];
  if (connection.capabilities[capability] === undefined) return [];
  const deadline = clock.monotonic() + timeoutMs;
  const entries: string[] = [];
  const seen = new Set<string>();
  let chars = 0;
  for (let cursor: string | undefined; ;) {
    const params = cursor === undefined ? undefined : JSON.stringify({ cursor });
    const reply = await connection.request(method, params, { signal, timeoutMs: Math.max(1, deadline - clock.monotonic()) });
    if (reply.kind === 'error') throw broken(method, `answered ${method} with error ${reply.code}`, { code: reply.code });
    const page = textsOf(reply.json, list);
    if (page === undefined) throw broken(method, `answered ${method} without a list of ${words}`);
    for (const text of page) chars += text.length;
    entries.push(...page);
    const { nextCursor } = reply.value;
    if (nextCursor === undefined || nextCursor === null) return entries;
    if (typeof nextCursor !== 'string' || seen.has(nextCursor)) throw broken(method, `pages its ${words} in a circle`);
    seen.add(nextCursor);
    if (seen.size >= listingBounds.pages || entries.length > listingBounds.entries || chars > listingBounds.chars) {
      throw broken(
        method,
        `lists more than ${listingBounds.pages} pages, ${listingBounds.entries} ${words} or ${listingBounds.chars} characters`,
      );
    }
    cursor = nextCursor;
  }
}

function textsOf(result: string, key: string): readonly string[] | undefined {
  const spans = objectMembers(result)?.filter((member) => member.key === key) ?? [];
  const [span] = spans;
  if (span === undefined || spans.length > 1) return undefined;
  return arrayElements(result, span.start)?.map(({ start, end }) => result.slice(start, end));
}

function broken(method: string, what: string, data?: { readonly code: number }): AppError {
  return new AppError('unavailable', 'fleet.protocol', `The upstream ${what}.`, {
    hint: `Run the server by hand and look at its ${method}.`,
    ...(data === undefined ? {} : { data }),
  });
}
