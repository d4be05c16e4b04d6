// The composition root, second half: the slices, then the three doors in front of them. `close()` undoes it in reverse.
import { createAgentDoor } from '../faces/mcp/agent-door.ts';
import { createMcpEndpoint } from '../faces/mcp/endpoint.ts';
import { createGitDoor } from '../faces/http/git-door.ts';
import { createHumanDoor, refuseMalformed } from '../faces/http/human-door.ts';
import { createLocalDoor } from '../faces/http/local-door.ts';
import type { Log } from '../kernel/ports.ts';
import { createHttpServer } from '../wire/http-door.ts';
import { createCleanup, type Cleanup } from './cleanup.ts';
import type { Settings } from './config.ts';
import { listenSocket, listenTcp, serverFor } from './doors.ts';
import { programVersion } from './package-files.ts';
import { openSlices, type Slices } from './slices.ts';

export interface Daemon {
  /** Ends in `/mcp`. */
  readonly agentUrl: string;
  readonly humanUrl: string;
  readonly socket: string;
  /** Lets calls finish for a moment, then stops everything; no child is left when it resolves. */
  close(): Promise<void>;
}

const graceMs = 2_000;

const instructions =
  'Tools named <upstream>__<tool> act on the world through a gateway that checks policy, may ask a human, and records every call. ' +
  'A name that ends in __ and eight hex digits is a short form; a refusal of the call names its capability. ' +
  'Plan with scopegate_policy_summary and scopegate_can_i; ask with scopegate_request_capability before privileged work. ' +
  'When an answer says a human must approve, relay the exact command it names and make the same call again afterwards.';

/** Starts everything, or nothing: a failure on the way closes what was open and rejects. */
export async function startDaemon(settings: Settings, log: Log): Promise<Daemon> {
  const cleanup = createCleanup();
  try {
    return await start(settings, log, cleanup);
  } catch (thrown) {
    await cleanup
      .run()
      .catch((failure: unknown) => log.error('closing after a failed start failed too', { cause: String(failure) }));
    throw thrown;
  }
}

async function start(settings: Settings, log: Log, cleanup: Cleanup): Promise<Daemon> {
  let agentUrl: string | undefined;
  let humanUrl: string | undefined;
  const onLost = (reason: Error): void => {
    log.error('stopping: this daemon no longer owns its state', { cause: reason.message });
    process.kill(process.pid, 'SIGTERM');
  };
  const slices = await openSlices({ settings, log, agentUrl: () => agentUrl, humanUrl: () => humanUrl, cleanup, onLost });
  const { audit } = slices;

  const agentPort = await openAgentDoor(slices, settings, log, cleanup);
  agentUrl = `http://127.0.0.1:${agentPort}/mcp`;
  const humanOrigin = await openHumanDoor(slices, settings, log, cleanup);
  humanUrl = humanOrigin;

  const status = () => statusOf(slices, { agent_url: agentUrl ?? '', human_url: humanOrigin, socket: settings.socketPath });
  const local = await listenSocket(serverFor(createLocalDoor({ dispatch: slices.dispatch, log, status })), settings.socketPath);
  cleanup.add(() => local.close(graceMs));

  await audit.appendSynced({ event: 'daemon.started', actor: 'daemon', facts: { version: programVersion(), pid: process.pid } });
  return {
    agentUrl,
    humanUrl: humanOrigin,
    socket: settings.socketPath,
    async close() {
      audit.appendQuietly({ event: 'daemon.stopped', actor: 'daemon', facts: { pid: process.pid } });
      await cleanup.run();
    },
  };
}

async function openAgentDoor(
  { dispatch, agents, clock, entropy }: Slices,
  settings: Settings,
  log: Log,
  cleanup: Cleanup,
): Promise<number> {
  const serverInfo = { name: 'sallyport', version: programVersion() };
  const endpoint = createMcpEndpoint({ dispatch, agents, clock, entropy, log, serverInfo, instructions });
  const server = createHttpServer({
    allowedHosts: ['127.0.0.1', 'localhost'],
    allowedOrigins: [],
    handler: createGitDoor({ agents, dispatch }, createAgentDoor({ endpoint, agents, dispatch })),
    onRefused: ({ reason, ...facts }) => dispatch.refused('agent', reason, facts),
    log,
  });
  const door = await listenTcp(server, settings.agentPort, 'agent');
  cleanup.add(async () => {
    await endpoint.close(graceMs);
    await door.close(graceMs);
  });
  return door.port;
}

/** A name of its own for each installation: cookies and passkeys ignore ports, so two of them must not share one (DESIGN §5). */
async function openHumanDoor(
  { dispatch, approvals, installation }: Slices,
  settings: Settings,
  log: Log,
  cleanup: Cleanup,
): Promise<string> {
  let origin = '';
  const human = createHumanDoor({ dispatch, log, origin: () => origin, approval: (id) => approvals.get(id) });
  const door = await listenTcp(
    serverFor(human, () => refuseMalformed(dispatch)),
    settings.humanPort,
    'human',
  );
  cleanup.add(() => door.close(graceMs));
  origin = `http://sallyport-${installation
    .replaceAll(/[^a-z0-9]/gi, '')
    .slice(0, 10)
    .toLowerCase()}.localhost:${door.port}`;
  return origin;
}

async function statusOf(
  { agents, approvals, audit, fleet }: Slices,
  doors: Record<string, string>,
): Promise<Record<string, string | number | boolean>> {
  const { available, records } = audit.status();
  return {
    version: programVersion(),
    pid: process.pid,
    ...doors,
    agents: agents.list().length,
    upstreams: fleet.upstreams().length,
    open_approvals: (await approvals.list()).filter(({ state }) => state === 'pending').length,
    audit_records: records,
    audit_available: available,
  };
}
