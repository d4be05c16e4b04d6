// Reads the whole tools/list of an upstream, page by page, within bounds, as the texts of its definitions. Judges none of them.
import { AppError } from '../../kernel/errors.ts';
import type { Clock, UpstreamConnection } from '../../kernel/ports.ts';
import { arrayElements, objectMembers } from '../../lib/json-text.ts';

export const listingBounds = { pages: 200, tools: 5_000, chars: 16 * 1024 * 1024 } as const;

/**
 * Each definition exactly as it was sent. An upstream without the tools capability has none. Throws `fleet.timeout`, `fleet.exited`,
 * or `fleet.protocol` for an error answer, a list that is none, a repeated cursor or one beyond the bounds.
 */
export async function listTools(
  connection: UpstreamConnection,
  timeoutMs: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (connection.capabilities['tools'] === undefined) return [];
  const deadline = clock.monotonic() + timeoutMs;
  const definitions: string[] = [];
  const seen = new Set<string>();
  let chars = 0;
  for (let cursor: string | undefined; ;) {
    const params = cursor === undefined ? undefined : JSON.stringify({ cursor });
    const reply = await connection.request('tools/list', params, { signal, timeoutMs: Math.max(1, deadline - clock.monotonic()) });
    if (reply.kind === 'error') throw broken(`answered tools/list with error ${reply.code}`);
    const page = toolTexts(reply.json);
    if (page === undefined) throw broken('answered tools/list without a list of tools');
    for (const text of page) chars += text.length;
    definitions.push(...page);
    const { nextCursor } = reply.value;
    if (nextCursor === undefined || nextCursor === null) return definitions;
    if (typeof nextCursor !== 'string' || seen.has(nextCursor)) throw broken('pages its tools in a circle');
    seen.add(nextCursor);
    if (seen.size >= listingBounds.pages || definitions.length > listingBounds.tools || chars > listingBounds.chars) {
      throw broken(
        `lists more than ${listingBounds.pages} pages, ${listingBounds.tools} tools or ${listingBounds.chars} characters`,
      );
    }
    cursor = nextCursor;
  }
}

function toolTexts(result: string): readonly string[] | undefined {
  const spans = objectMembers(result)?.filter(({ key }) => key === 'tools') ?? [];
  const [span] = spans;
  if (span === undefined || spans.length > 1) return undefined;
  return arrayElements(result, span.start)?.map(({ start, end }) => result.slice(start, end));
}

function broken(what: string): AppError {
  return new AppError('unavailable', 'fleet.protocol', `The upstream ${what}.`, {
    hint: 'Run the server by hand and look at its tools/list.',
  });
}
