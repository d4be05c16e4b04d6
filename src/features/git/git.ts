// The face of the git slice: whose repositories git is given tokens for, and the tokens. Who may have one is the gateway's to say.
import type { Database, Transaction } from '../../kernel/database.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Audit } from '../audit/audit.ts';
import type { AuditEntry } from '../audit/model.ts';
import type { Decision } from '../vault/model.ts';
import { askedRepository } from './asked-repository.ts';
import { appFacts, entryName, mostEntries, type AskedRepository, type GitAttributes, type GitEntry } from './model.ts';
import { refusal } from './refusals.ts';
import { deleteEntry, insertEntry, readEntries } from './store.ts';
import { createGitTokens, type GitTokens, type TokenDeps } from './tokens.ts';

export interface Git extends Pick<GitTokens, 'give' | 'forget'> {
  /** Throws `git.not_listed`, `git.needs_https`, `git.needs_path`, `git.bad_path`. Synchronous, from memory. */
  asked(attributes: GitAttributes): { readonly entry: GitEntry; readonly asked: AskedRepository };
  /** An agent is suspended, revoked or gone: what it was given is taken back. */
  endAgent(agent: string): void;
  entries(): readonly GitEntry[];
  /** Whether tokens are made from this secret. */
  uses(ref: string): boolean;
}

/** What only this slice's own operations may do; the gateway has checked who may. */
export interface GitKeeping extends Git {
  allow(entry: GitEntry, by: Decision): Promise<void>;
  disallow(entry: Pick<GitEntry, 'host' | 'owner'>, by: Decision): Promise<void>;
  /** Takes back what was given. */
  close(): Promise<void>;
}

export interface GitDeps extends TokenDeps {
  readonly db: Database;
  readonly audit: Audit;
}

export async function createGit({ db, audit, clock, ...rest }: GitDeps): Promise<GitKeeping> {
  let entries: readonly GitEntry[] = await readEntries(db.queries);
  const tokens = createGitTokens({ clock, ...rest });

  async function change(event: AuditEntry['event'], by: Decision, facts: JsonObject, apply: (tx: Transaction) => Promise<void>) {
    try {
      await audit.commit(
        async (tx) => {
          await apply(tx);
          return {
            value: undefined,
            entries: [{ event, actor: by.actor, facts: { ...facts, ...(by.proof && { proof: by.proof }) } }],
          };
        },
        { decision: true },
      );
    } finally {
      // Also when the commit failed: it may have reached the database before it did.
      entries = await readEntries(db.queries);
    }
  }

  return {
    give: (wish) => tokens.give(wish),
    forget: (agent, asked) => tokens.forget(agent, asked),
    asked: (attributes) => askedRepository(entries, attributes),
    endAgent: (agent) => tokens.end({ agent }),
    entries: () => entries,
    uses: (ref) => entries.some(({ app }) => app.secretRef === ref),
    close: () => tokens.close(),

    async allow(entry, by) {
      const named = entryName(entry);
      await change('git.allowed', by, { entry: named, access: entry.access, app: appFacts(entry.app) }, async (tx) => {
        if (entries.length >= mostEntries) throw refusal('limited', 'git.bad_entry', `There are ${mostEntries} entries already.`);
        if (await insertEntry(tx, entry, new Date(clock.now()).toISOString())) return;
        const hint = `Take it off first with: sallyport git disallow ${named}`;
        throw refusal('conflict', 'git.entry_exists', `'${named}' is entered already.`, hint);
      });
    },

    async disallow(entry, by) {
      const named = entryName(entry);
      await change('git.disallowed', by, { entry: named }, async (tx) => {
        if (await deleteEntry(tx, entry)) return;
        throw refusal('not_found', 'git.unknown_entry', `There is no entry '${named}'.`, 'See: sallyport git ls');
      });
      tokens.end({ entry });
    },
  };
}
