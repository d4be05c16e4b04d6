// The face of the placements slice: where secrets may be put into files, what exactly would be put there, and putting it. Who may ask and who
// agreed is the gateway's; the value comes from whoever read it.
import type { Database, Transaction } from '../../kernel/database.ts';
import type { Clock, Digest, Entropy, PlacedFiles } from '../../kernel/ports.ts';
import { encodeBase64url, encodeHex } from '../../lib/base64url.ts';
import type { Audit } from '../audit/audit.ts';
import type { AuditEntry } from '../audit/model.ts';
import type { Decision, Secret } from '../vault/model.ts';
import { allowedBy, destinationEntry, plainDestination, plainPath } from './destination.ts';
import {
  backupEnding,
  mostDestinations,
  mostReplacedBytes,
  mostTemplateBytes,
  placeholder,
  type Placed,
  type Placement,
  type Plan,
  type Standing,
  type Wish,
} from './model.ts';
import { notAllowed, refusal, unrecorded } from './refusals.ts';
import { sidecarOf, sidecarText } from './sidecar.ts';
import { deleteDestination, insertDestination, putPlacement, readDestinations, readPlacement, readPlacements } from './store.ts';
import { checkedTemplate, render } from './template.ts';

export interface Placements {
  /** What would be done now, without doing it. Throws `placements.*`; reads a template file and the file that would be replaced. */
  plan(wish: Wish): Promise<Plan>;
  /** The same for what was placed there before, where its sidecar says nothing else than the database. */
  planAgain(out: string): Promise<Plan>;
  /**
   * Does what the plan says, or throws `placements.changed` when the file is another one by now: the intent is on the record first, then the
   * old file is copied aside, the new one takes its place in one step, the sidecar follows, and row and record are one commit.
   */
  place(plan: Plan, secret: Secret, standing: Standing): Promise<Placed>;
  /** Sorted by path. */
  list(): Promise<readonly Placement[]>;
  /** Sorted; from memory. */
  destinations(): readonly string[];
}

/** What only this slice's own operations may do; the gateway has checked who may. */
export interface PlacementKeeping extends Placements {
  allow(entry: string, by: Decision): Promise<void>;
  disallow(entry: string, by: Decision): Promise<void>;
}

export interface PlacementDeps {
  readonly db: Database;
  readonly audit: Audit;
  readonly files: PlacedFiles;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly digest: Digest;
}

export async function createPlacements({ db, audit, files, clock, entropy, digest }: PlacementDeps): Promise<PlacementKeeping> {
  let entries: readonly string[] = await readDestinations(db.queries);
  const hashOf = (bytes: Uint8Array | string): string => encodeHex(digest.sha256(bytes));

  function allowed(path: string): string {
    if (!allowedBy(entries, path)) throw notAllowed(path);
    return path;
  }

  async function templateOf({ template, templateFile }: Wish): Promise<string> {
    if (templateFile === undefined) return checkedTemplate(template ?? placeholder);
    const bytes = await files.read(allowed(plainPath(templateFile)), mostTemplateBytes);
    if (bytes === undefined) throw refusal('invalid', 'placements.bad_template', `There is no template file ${templateFile}.`);
    return checkedTemplate(textOf(bytes, templateFile));
  }

  async function plan(wish: Wish): Promise<Plan> {
    const { ref, templateFile } = wish;
    const out = allowed(plainDestination(wish.out));
    const template = await templateOf(wish);
    const before = await files.read(out, mostReplacedBytes);
    const replaces = before && hashOf(before);
    return {
      ref,
      out,
      template,
      templateFile,
      replaces,
      shown: {
        ref,
        out,
        mode: '0600',
        template,
        template_sha256: hashOf(template),
        ...(templateFile !== undefined && { template_file: templateFile }),
        replaces_sha256: replaces ?? null,
        backup: replaces === undefined ? null : `${out}${backupEnding}`,
      },
    };
  }

  async function change(entry: string, by: Decision, event: AuditEntry['event'], apply: (tx: Transaction) => Promise<void>) {
    try {
      await audit.commit(
        async (tx) => {
          await apply(tx);
          const facts = { destination: entry, ...(by.proof && { proof: by.proof }) };
          return { value: undefined, entries: [{ event, actor: by.actor, facts }] };
        },
        { decision: true },
      );
    } finally {
      // Also when the commit failed: it may have reached the database before it did.
      entries = await readDestinations(db.queries);
    }
  }

  function placementOf({ ref, out, template, templateFile }: Plan, { version }: Secret, content: Uint8Array): Placement {
    const salt = entropy.bytes(32);
    return {
      out,
      ref,
      version,
      template: templateFile === undefined ? template : undefined,
      templateFile,
      digest: digest.hmacSha256Text(salt, content),
      salt: encodeBase64url(salt),
      placedAt: new Date(clock.now()).toISOString(),
    };
  }

  return {
    plan,
    list: () => readPlacements(db.queries),
    destinations: () => entries,

    async planAgain(out) {
      const known = await readPlacement(db.queries, plainDestination(out));
      if (known === undefined) throw unrecorded(out, 'nothing was placed there');
      allowed(out);
      const sidecar = await files.read(sidecarOf(out), mostReplacedBytes);
      if (sidecar === undefined || textOf(sidecar, sidecarOf(out)) !== sidecarText(known))
        throw unrecorded(out, `${sidecarOf(out)} is not what was written when it was placed`);
      return plan(known);
    },

    async place(given, secret, { actor, facts }) {
      const { ref, out, replaces, shown } = given;
      // The list may have become shorter since the plan was made.
      allowed(out);
      const about = { capability: `vault:inject:${ref}`, version: secret.version };
      const intent = await audit.intent(
        { event: 'call.intent', actor, facts: { ...about, ...facts }, sealed: { args: JSON.stringify(shown) } },
        'synced',
      );
      const content = render(given.template, secret.value);
      try {
        const placement = placementOf(given, secret, content);
        const sha256 = hashOf(content);
        await files.replace(out, content, { expected: replaces, backup: `${out}${backupEnding}`, mostBytes: mostReplacedBytes });
        await files.replace(sidecarOf(out), new TextEncoder().encode(sidecarText(placement)), { mostBytes: mostReplacedBytes });
        await audit.commit(
          async (tx) => {
            await putPlacement(tx, placement);
            // A digest under the salt of the record: the hash alone would let anybody try out short values.
            const sealed = { out, sha256, template: given.template };
            const entry: AuditEntry = {
              event: 'secret.placed',
              actor,
              facts: { ref, version: secret.version, intent: intent.id },
              sealed,
            };
            return { value: undefined, entries: [entry] };
          },
          { keepsRights: true },
        );
        intent.close('ok');
        return { out, sha256, backedUp: replaces !== undefined };
      } catch (thrown) {
        intent.close('error');
        throw thrown;
      } finally {
        content.fill(0);
      }
    },

    allow: async (text, by) =>
      change(destinationEntry(text), by, 'placement.allowed', async (tx) => {
        if (entries.length >= mostDestinations)
          throw refusal('limited', 'placements.bad_destination', `There are ${mostDestinations} destinations already.`);
        if (!(await insertDestination(tx, text, new Date(clock.now()).toISOString())))
          throw refusal('conflict', 'placements.bad_destination', `'${text}' is allowed already.`);
      }),

    disallow: (text, by) =>
      change(text, by, 'placement.disallowed', async (tx) => {
        if (!(await deleteDestination(tx, text)))
          throw refusal(
            'not_found',
            'placements.unknown_destination',
            `'${text}' is not allowed.`,
            'See: sallyport inject allowed',
          );
      }),
  };
}

function textOf(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refusal('invalid', 'placements.bad_template', `${path} is no text in UTF-8.`);
  }
}
