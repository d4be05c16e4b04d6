// policies.pending.yaml: the queue as people can read it, one document for each pending proposal. A copy: nothing is ever read from it
// but the comments people wrote. What an agent wrote stands in it as escaped, quoted text of one line.
import { parseDocument } from 'yaml';
import { canonicalJson } from '../../../lib/canonical-json.ts';
import { printableJson } from '../../../lib/printable.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { formatTtl } from '../ttl.ts';
import type { Proposal } from './proposal.ts';

const heading = `# Rules that agents proposed and nobody has decided about. This is a copy for reading: to change or delete it changes nothing.
# Look at them with: sallyport policies review
# Decide with:       sallyport policies accept <n>, or: sallyport policies reject <n> --reason TEXT
`;
/** Longer texts were not written by us, and keep nothing. */
const mostKept = 1_048_576;
const mark = /^---[ \t]*\r?\n/m;

/** The file for what is pending. Comments above the first document and in documents that still say the same are kept. */
export function pendingText(pending: readonly Proposal[], existing: string | undefined): string {
  const [head = '', ...documents] = existing === undefined || existing.length > mostKept ? [] : existing.split(mark);
  const kept = keptDocuments(documents);
  const top = /^(?:[ \t]*(?:#[^\r\n]*)?\r?\n)+$/.test(head) && head.includes('#') ? head : heading;
  return top + pending.map((proposal) => `---\n${kept.get(canonicalJson(dataOf(proposal))) ?? documentOf(proposal)}`).join('');
}

/** By what they say. */
function keptDocuments(documents: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    documents.flatMap((document) => {
      try {
        const parsed = parseDocument(document, { schema: 'core', uniqueKeys: true, merge: false, prettyErrors: false });
        const plain = parsed.errors.length + parsed.warnings.length === 0;
        const text = document.endsWith('\n') ? document : `${document}\n`;
        return plain ? [[canonicalJson(parsed.toJS({ maxAliasCount: 0 }) as JsonObject), text] as const] : [];
      } catch {
        return [];
      }
    }),
  );
}

function dataOf({ n, agent, match, ttlMs, justification, conflict, proposedAt }: Proposal): JsonObject {
  return {
    n,
    proposedAt: new Date(proposedAt).toISOString(),
    agentId: agent,
    rule: { match, ...(ttlMs !== undefined && { ttl: formatTtl(ttlMs) }) },
    justification,
    status: 'pending_human_review',
    ...(conflict !== undefined && { lint: 'conflicts_with_limits', lint_note: conflict }),
  };
}

/** JSON texts are YAML; what could disturb a terminal is escaped in them. */
function documentOf(proposal: Proposal): string {
  return Object.entries(dataOf(proposal))
    .map(([key, value]) => `${key}: ${printableJson(value)}\n`)
    .join('');
}
