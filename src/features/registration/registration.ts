// The face of registration: agents propose upstreams, a person decides, and what was proposed is told how it stands. Nothing is started,
// dialled or looked up here; what a yes does is in deed.ts. Knows no policy and no approval.
import { AppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Deed } from '../approvals/approvals.ts';
import { refsOf } from '../auth/model.ts';
import type { Fleet, FleetControl } from '../fleet/fleet.ts';
import type { Registry } from '../registry/registry.ts';
import type { Vault } from '../vault/vault.ts';
import { commandNotes } from './command-notes.ts';
import { deedOf } from './deed.ts';
import { readEnvelope, type ProposedTransport } from './envelope.ts';
import { catalogueEntry } from './catalogue-entry.ts';
import type { CatalogueEntry, Proposal, Registered } from './model.ts';
import { judgeUrl } from './proposed-url.ts';

export interface Registration {
  /** Reads what an agent sent; throws `registration.*` and `fleet.bad_spec`, all of kind invalid but `registration.unverified`. */
  propose(raw: Readonly<Record<string, unknown>>): Promise<Proposal>;
  /** How the very same entry stands once a person let it in; `undefined` before. */
  standing(proposal: Proposal, signal: AbortSignal): Promise<Registered | undefined>;
  /** What a yes to this proposal would do now. `args` is that of the proposal. */
  deed(args: JsonObject | undefined): Promise<Deed>;
}

export interface RegistrationDeps {
  readonly fleet: Fleet & FleetControl;
  readonly vault: Pick<Vault, 'known'>;
  readonly registry: Pick<Registry, 'entry'>;
  /** To which plain http is allowed by the operator's settings. */
  readonly insecureHosts: readonly string[];
}

export function createRegistration(deps: RegistrationDeps): Registration {
  const { fleet, vault, registry, insecureHosts } = deps;

  function manual(name: string, transport: ProposedTransport, auth: JsonObject): JsonObject {
    if (transport.kind === 'stdio') {
      const notes = commandNotes(transport.command, transport.args);
      return { upstream: { name, transport: { ...transport, args: [...transport.args] }, auth }, notes };
    }
    const judged = judgeUrl(transport.url, insecureHosts);
    if (!judged.ok) throw new AppError('invalid', 'registration.unsafe_url', `Invalid 'transport.url': it ${judged.problem}.`);
    const { addresses, allowInsecure, notes } = judged;
    const written = { ...transport, addresses, ...(allowInsecure ? { allow_insecure: true } : {}) };
    return { upstream: { name, transport: written, auth }, notes: [...notes] };
  }

  function fromCatalogue(name: string): { readonly entry: CatalogueEntry; readonly args: JsonObject } {
    const entry = catalogueEntry(registry, name);
    const { description, sha256, version, transport, auth, exposeTools } = entry;
    const notes = transport.kind === 'stdio' ? commandNotes(transport.command, transport.args) : [];
    const written = transport.kind === 'stdio' ? { ...transport, args: [...transport.args] } : { ...transport };
    const upstream = { name, transport: written, auth, ...(exposeTools.length === 0 ? {} : { exposeTools: [...exposeTools] }) };
    const origin = { entry: name, catalogue_version: version, manifest_sha256: sha256, describes_itself: description };
    return { entry, args: { upstream, from_registry: origin, notes } };
  }

  return {
    async propose(raw) {
      const read = readEnvelope(raw);
      const { args, entry } =
        read.kind === 'catalogue'
          ? fromCatalogue(read.entry)
          : { args: manual(read.name, read.transport, read.auth), entry: undefined };
      const spec = fleet.draft(args['upstream']);
      return { capability: `sallyport:register:${spec.name}`, spec, args, ...(entry === undefined ? {} : { entry }) };
    },

    async standing({ spec, entry }, signal) {
      const { name } = spec;
      const accepted = fleet.acceptance(name);
      if (accepted === undefined) return undefined;
      const { specDigest } = await fleet.proposal(spec);
      if (accepted.specDigest !== specDigest) return undefined;
      // Between the decision and the file there is a moment.
      if (fleet.held().get(name)?.specDigest !== specDigest) await fleet.reload();
      if (fleet.held().get(name)?.specDigest !== specDigest) return undefined;
      const refs = refsOf(spec.auth);
      // What is logged in for is no secret that somebody adds.
      const missing = spec.auth.type === 'oauth2' ? [] : refs.filter((ref) => !vault.known(ref));
      const add = missing.map((ref) => `scopegate secret add ${ref}`);
      if (missing.length > 0) return waiting(name, add, missing, entry);
      const { ok, tools, error, oauth } = await fleet.probe(name, signal);
      if (!ok && oauth?.state === 'needs_reauth') return waiting(name, [`scopegate auth login ${name}`], refs, entry);
      return { registered: name, connection: { ok, ...(ok ? { tools: tools ?? 0 } : { error: error ?? 'it does not answer' }) } };
    },

    async deed(args = {}) {
      const origin = args['from_registry'] as { readonly entry?: unknown; readonly manifest_sha256?: unknown } | undefined;
      if (origin !== undefined && catalogueEntry(registry, String(origin.entry)).sha256 !== origin.manifest_sha256)
        throw new AppError('conflict', 'registration.changed', 'The catalogue has another manifest of that name by now.', {
          hint: 'Let the agent ask again.',
        });
      return deedOf({ fleet }, args);
    },
  };
}

/** Gate contract: to be relayed verbatim. */
function waiting(
  name: string,
  commands: readonly string[],
  missing: readonly string[],
  entry: CatalogueEntry | undefined,
): Registered {
  const hints = Object.entries(entry?.hints ?? {}).filter(([ref]) => missing.includes(ref));
  return {
    registered: name,
    status: 'waiting_for_secrets',
    ...(entry === undefined ? {} : { from_registry: entry.name, setup_hints: Object.fromEntries(hints) }),
    action_required: `Ask the human to run in their terminal: ${commands.join(' && ')}  — then call scopegate_diagnose.`,
  };
}
