// The composition root, first half: storage, keys, record and the slices in floor order. Each part gets the few things it needs,
// never the settings as a whole.
import { join } from 'node:path';
import { agentMigrations, agentRights } from '../features/agents/store.ts';
import { createAgents } from '../features/agents/agents.ts';
import { approvalMigrations, approvalRights } from '../features/approvals/store.ts';
import { createApprovals } from '../features/approvals/approvals.ts';
import type { Approval } from '../features/approvals/model.ts';
import { auditMigrations } from '../features/audit/store.ts';
import { createAudit } from '../features/audit/audit.ts';
import { createAuth } from '../features/auth/auth.ts';
import { createOAuthLogins, type LoginEntry } from '../features/auth/oauth2/oauth2.ts';
import { injectionProviders } from '../features/auth/injected.ts';
import { createMinting } from '../features/auth/minting.ts';
import { createDefences } from '../features/defences/defences.ts';
import { defenceMigrations, defenceRights } from '../features/defences/store.ts';
import { createFleet } from '../features/fleet/fleet.ts';
import { usualNaming, type UpstreamSpec } from '../features/fleet/model.ts';
import { fleetMigrations, fleetRights } from '../features/fleet/store.ts';
import { createGithubApp } from '../features/auth/github-app.ts';
import { createGit } from '../features/git/git.ts';
import { gitMigrations, gitRights } from '../features/git/store.ts';
import { createGateway } from '../features/gateway/call.ts';
import { refusedByPolicy } from '../features/gateway/admission.ts';
import { annotationsOf } from '../features/gateway/capability-target.ts';
import { createApprovalOffers } from '../features/gateway/offer-approval.ts';
import { createRate } from '../features/gateway/rate.ts';
import { createGrants } from '../features/grants/grants.ts';
import { grantMigrations, grantRights } from '../features/grants/store.ts';
import { loadInstallation } from '../features/operator/installation.ts';
import { createOperator } from '../features/operator/operator.ts';
import { operatorMigrations, operatorRights } from '../features/operator/store.ts';
import { capabilityCovers, parseCapability } from '../features/policy/model.ts';
import { placementMigrations, placementRights } from '../features/placements/store.ts';
import { createPlacements } from '../features/placements/placements.ts';
import { createPolicy, policyMigrations, policyRights } from '../features/policy/policy.ts';
import { createProposals } from '../features/policy/proposals/proposals.ts';
import { registryMigrations, registryRights } from '../features/registry/store.ts';
import { createRegistration } from '../features/registration/registration.ts';
import { createResults } from '../features/results/results.ts';
import { vaultMigrations, vaultRights } from '../features/vault/store.ts';
import { createVault } from '../features/vault/vault.ts';
import type { Dispatch } from '../kernel/dispatch.ts';
import type { Clock, Files, Log } from '../kernel/ports.ts';
import { createClock } from '../platform/clock.ts';
import { createDigest, createEntropy, createVerifier, loadOrCreateSecret, loadOrCreateSigner } from '../platform/crypto.ts';
import { openDatabase } from '../platform/database.ts';
import { lockHome } from '../platform/file-lock.ts';
import { createFiles } from '../platform/files.ts';
import { createKeychain } from '../platform/keychain.ts';
import { createKeySigner } from '../platform/key-signer.ts';
import { createSpawner } from '../platform/process.ts';
import { createPlacedFiles } from '../platform/placed-files.ts';
import { findProgram } from '../platform/program-path.ts';
import { createSystemdCredential } from '../platform/systemd-credential.ts';
import { createTokenHttp } from '../platform/token-http.ts';
import { createUpstreamConnector } from '../platform/upstream.ts';
import { createHttpConnector } from '../platform/upstream-http.ts';
import { createVaultCipher } from '../platform/vault-cipher.ts';
import { createVaultKeyFile } from '../platform/vault-key-file.ts';
import { allOperations } from './catalog.ts';
import { devHomeOf, type Settings } from './config.ts';
import type { Cleanup } from './cleanup.ts';
import { packageFile, programVersion } from './package-files.ts';
import { openRegistry } from './registry-parts.ts';

/** Where every right comes from: held against the record at each start and each change. */
const rightsOf = [
  operatorRights,
  vaultRights,
  agentRights,
  placementRights,
  gitRights,
  defenceRights,
  policyRights,
  fleetRights,
  grantRights,
  approvalRights,
  registryRights,
];

export interface Slices {
  readonly dispatch: Dispatch;
  readonly agents: Awaited<ReturnType<typeof createAgents>>;
  readonly audit: Awaited<ReturnType<typeof createAudit>>;
  readonly approvals: Awaited<ReturnType<typeof createApprovals>>;
  readonly fleet: Awaited<ReturnType<typeof createFleet>>;
  readonly clock: Clock;
  readonly entropy: ReturnType<typeof createEntropy>;
  /** Of this home, for its own name in `<name>.localhost`. */
  readonly installation: string;
}

export interface SliceOptions {
  readonly settings: Settings;
  readonly log: Log;
  readonly agentUrl: () => string | undefined;
  /** Of the human door, once it listens. */
  readonly humanUrl?: () => string | undefined;
  /** Undone in reverse when the daemon stops or the start fails half-way. */
  readonly cleanup: Cleanup;
  /** Something without which nothing may go on was lost. */
  readonly onLost: (reason: Error) => void;
  /** Time and disk, where a test stands in for them; the real ones unless given. */
  readonly outside?: { readonly clock?: Clock; readonly files?: Files };
}

export async function openSlices({
  settings,
  log,
  agentUrl,
  humanUrl,
  cleanup,
  onLost,
  outside = {},
}: SliceOptions): Promise<Slices> {
  const { home, naming = usualNaming } = settings;
  const { clock = createClock(), files = createFiles() } = outside;
  const [digest, entropy, verifier] = [createDigest(), createEntropy(), createVerifier()];

  // Two locks: one home may not have two daemons, and neither may one database that several homes name.
  const homeLock = lockHome(join(home, 'run'));
  cleanup.add(async () => homeLock.release());
  const db = await openDatabase(settings.storage, { log });
  cleanup.add(() => db.close());
  const lock = await db.lock(onLost);
  cleanup.add(() => lock.release());
  await db.migrate([
    ...auditMigrations,
    ...operatorMigrations,
    ...vaultMigrations,
    ...agentMigrations,
    ...placementMigrations,
    ...gitMigrations,
    ...defenceMigrations,
    ...policyMigrations,
    ...fleetMigrations,
    ...registryMigrations,
    ...grantMigrations,
    ...approvalMigrations,
  ]);
  const installation = await loadInstallation(db, entropy);

  const audit = await createAudit({
    db,
    files,
    folder: join(home, 'audit'),
    clock,
    entropy,
    digest,
    signer: await loadOrCreateSigner(files, join(home, 'keys', 'log.key')),
    verifier,
    saltKey: await loadOrCreateSecret(files, join(home, 'keys', 'log-salt.key')),
    origin: `sallyport/${installation}`,
    log,
    rights: (queries) => Promise.all(rightsOf.map((read) => read(queries))),
  });
  cleanup.add(() => audit.close());

  const operator = await createOperator({ db, audit, clock, entropy, digest, verifier, installation });
  const startKeys = {
    key_file: createVaultKeyFile(files, join(home, 'keys', 'vault.key')),
    systemd: createSystemdCredential(settings.environment['CREDENTIALS_DIRECTORY']),
    keychain: createKeychain({ environment: settings.environment }),
  };
  const vault = await createVault({ db, audit, clock, entropy, digest, cipher: createVaultCipher(), startKeys, log });
  cleanup.add(async () => vault.close());
  // A keychain may ask somebody first; nothing else waits for that.
  if (!(await vault.slots.openByMachine(['key_file', 'systemd']))) void vault.slots.openByMachine(['keychain']);
  const agents = await createAgents({ db, audit, clock, entropy, digest });
  const defences = await createDefences({
    db,
    audit,
    clock,
    entropy,
    cipher: createVaultCipher(),
    key: await loadOrCreateSecret(files, join(home, 'keys', 'decoys.key')),
    vault,
    agents,
    log,
  });
  // Whatever hands values on reads them here.
  const guarded = defences.guarded(vault);
  const placements = await createPlacements({
    db,
    audit,
    files: createPlacedFiles({ forbidden: [home, devHomeOf(settings.environment)] }),
    clock,
    entropy,
    digest,
  });
  const githubApp = createGithubApp({ clock, keys: createKeySigner(), http: createTokenHttp() });
  const git = await createGit({ db, audit, clock, vault: guarded, github: githubApp });
  cleanup.add(() => git.close());
  const minting = createMinting({ clock, entropy, digest, keys: createKeySigner(), http: createTokenHttp() });
  let loginEntries: () => readonly LoginEntry[] = () => [];
  const logins = createOAuthLogins({ vault: guarded, http: createTokenHttp(), clock, entropy, log, entries: () => loginEntries() });
  cleanup.add(async () => logins.close());
  const providers = [...injectionProviders, ...minting, logins.provider];
  const auth = createAuth({ vault: guarded, audit, clock, entropy, providers });
  cleanup.add(() => auth.close());
  const policyPath = join(home, 'policies.yaml');
  const hasOperator = (): boolean => operator.key() !== undefined;
  const policy = await createPolicy({ db, audit, files, path: policyPath, clock, digest, log, hasOperator });
  cleanup.add(async () => policy.close());
  const pendingPath = join(home, 'policies.pending.yaml');
  const proposals = await createProposals({ db, audit, files, path: pendingPath, clock, digest, log, policy });

  const spawner = await createSpawner({ runFolder: join(home, 'run'), log });
  cleanup.add(() => spawner.close());
  await spawner.sweep();
  const client = { name: 'sallyport', version: programVersion() };
  const connector = createUpstreamConnector({ spawner, clock, log, client });
  const http = createHttpConnector({ clock, client });
  cleanup.add(async () => http.close());
  const { environment } = settings;
  const settingsPath = join(home, 'sallyport.yaml');
  const fleet = await createFleet({
    db,
    audit,
    files,
    settingsPath,
    connector,
    http,
    auth,
    findProgram,
    clock,
    entropy,
    digest,
    log,
    environment,
    naming,
  });
  cleanup.add(() => fleet.close());
  loginEntries = () => fleet.specs().flatMap(loginEntry);

  const grants = await createGrants({
    db,
    audit,
    clock,
    entropy,
    covers: (outer, inner) => capabilityCovers(parseCapability(outer), parseCapability(inner)),
  });
  const stillAsks = ({ agent, capability, args }: Approval): void => {
    agents.assertActive(agent);
    const verdict = policy.decide({
      agent,
      capability,
      ...(args === undefined ? {} : { args }),
      ...annotationsOf(fleet, capability),
    });
    if (verdict.effect === 'deny') throw refusedByPolicy(capability, verdict);
  };
  const registry = await openRegistry({ db, audit, clock, digest, verifier, files }, settings.registry);
  const registration = createRegistration({ fleet, vault, registry, insecureHosts: settings.insecureHosts ?? [] });
  const approvals = await createApprovals({
    db,
    audit,
    clock,
    entropy,
    digest,
    grants,
    limits: (agent) => policy.limits(agent),
    policyVersion: () => policy.version(),
    stillAsks,
    findDeed: ({ args }) => registration.deed(args),
  });
  cleanup.add(async () => approvals.close());

  operator.onCreated(
    () =>
      void policy.adoptFirst().catch((error: unknown) => log.error('the first policy was not adopted', { cause: String(error) })),
  );
  const endRights = (name: string, why: string): Promise<void> =>
    Promise.all([grants.revokeAll(name, why), approvals.withdraw(name), proposals.withdraw(name)]).then(
      () => undefined,
      (error: unknown) =>
        log.error('grants or approvals of an agent that ended stay on their rows', { agent: name, cause: String(error) }),
    );
  agents.onEnded((name, why) => {
    git.endAgent(name);
    if (why === 'revoked' || why === 'removed') void endRights(name, why);
  });
  // A crash between an agent's end and that of its rights is finished here, so that a later agent of the same name inherits nothing.
  const holders = [...grants.active(), ...(await approvals.list()), ...(await proposals.list('pending'))].map(({ agent }) => agent);
  for (const name of new Set(holders)) {
    const state = agents.get(name)?.state;
    if (state === undefined || state === 'revoked') await endRights(name, 'ended before the last stop');
  }

  const results = createResults();
  const approvalOffers = createApprovalOffers({ approvals, agents, audit, results, clock, humanUrl: () => humanUrl?.() });
  const rate = createRate(clock);
  const reachable = (agent: string, upstream: string): boolean => {
    const verdict = policy.decide({ agent, capability: `${upstream}:call:*` });
    return verdict.effect !== 'deny' || !verdict.hard;
  };
  const operations = allOperations({
    operator: { operator, verifier },
    vault: {
      vault,
      boundTo: (ref) => [...auth.boundTo(ref), ...(git.uses(ref) ? ['git'] : [])],
      reachable,
      decoy: (ref) => defences.decoys.has(ref),
    },
    auth: { logins, vault, http: createTokenHttp() },
    agents: { agents, agentUrl },
    defences: { ...defences, vault, clock, entropy },
    git: { git },
    placements: { placements, vault, versionOf: (ref) => vault.secrets.list().find((one) => one.ref === ref)?.version },
    policy: {
      policy,
      proposals,
      files,
      path: policyPath,
      agentNames: () => agents.list().map(({ name }) => name),
      annotationsOf: (capability) => annotationsOf(fleet, capability).annotations,
    },
    audit: { audit, files, verifierPath: packageFile('scripts/verify-audit.mjs') },
    fleet: { fleet, reachable },
    registry: { registry },
    grants: { grants, clock },
    approvals: { approvals },
    gateway: {
      audit,
      agents,
      policy,
      proposals,
      fleet,
      grants,
      approvals,
      approvalOffers,
      rate,
      clock,
      git,
      placements,
      vault: guarded,
      defences,
      registration,
    },
  });
  const dispatch = createGateway({
    audit,
    operator,
    agents,
    policy,
    fleet,
    results,
    defences,
    grants,
    approvals,
    rate,
    clock,
    digest,
    operations,
    naming,
    approvalOffers,
  });
  return { dispatch, agents, audit, approvals, fleet, clock, entropy, installation };
}

/** Of an upstream that is logged in to. */
function loginEntry({ name, transport, auth }: UpstreamSpec): readonly LoginEntry[] {
  if (auth.type !== 'oauth2') return [];
  return [{ upstream: name, auth, ...(transport.kind === 'http' && { url: transport.url }) }];
}
