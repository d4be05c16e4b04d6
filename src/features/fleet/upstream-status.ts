// How members are, as people and agents are told: measured now, or as the state machine says. Changes nothing.
import { asAppError } from '../../kernel/errors.ts';
import type { AuthMode, OAuthHealth } from '../auth/model.ts';
import { circuitOf, newMember } from './member.ts';
import type { CatalogTool, CircuitView, MemberState, UpstreamSpec, UpstreamStatus } from './model.ts';
import type { PinnedTools } from './pinned-tools.ts';
import type { RosterEntry } from './roster.ts';
import type { SupervisedView } from './supervised.ts';

export interface MemberHealth {
  readonly ok: boolean;
  readonly tools?: number;
  readonly error?: string;
  readonly state: MemberState;
  readonly circuit: CircuitView;
  /** contracts/gate.txt, scopegate_diagnose. */
  readonly mode: AuthMode;
  /** The same; of a login that is refreshed. */
  readonly oauth?: OAuthHealth;
  readonly actionRequired?: string;
}

export const probeTimeoutMs = 10_000;

/** Lists its tools within `timeoutMs`; never rejects. */
export async function measured(entry: RosterEntry, signal: AbortSignal, timeoutMs = probeTimeoutMs): Promise<MemberHealth> {
  if (entry.kind === 'idle')
    return { ok: false, error: entry.why, state: 'stopped', circuit: circuitOf(newMember, 0), mode: 'none' };
  const { member, tools } = entry;
  const outcome = await member.measure(timeoutMs, signal).then(
    () => ({ ok: true, tools: tools.served().length }),
    (error: unknown) => ({ ok: false, error: asAppError(error).message }),
  );
  const { state, circuit } = member.view();
  const { mode = 'none', oauth, actionRequired } = member.login() ?? {};
  return {
    ...outcome,
    state,
    circuit,
    mode,
    ...(oauth === undefined ? {} : { oauth }),
    ...(actionRequired === undefined ? {} : { actionRequired }),
  };
}

/** What an operator is told of a first try: also what the upstream said last, where that failed. */
export interface Tried extends MemberHealth {
  readonly stderr?: string;
}

export async function tried(entry: RosterEntry, startTimeoutMs: number): Promise<Tried> {
  // A first start may install what it runs; whoever accepted it is told how it ended, not that it takes long.
  const health = await measured(entry, new AbortController().signal, Math.max(probeTimeoutMs, startTimeoutMs));
  const stderr = health.ok || entry.kind === 'idle' ? undefined : entry.member.view().stderrTail;
  return { ...health, ...(stderr === undefined || stderr === '' ? {} : { stderr }) };
}

/** Served tools with a warning. */
export function warnedOf(tools: PinnedTools): readonly CatalogTool[] {
  return tools.served().filter(({ warnings }) => warnings.length > 0);
}

function troubleOf(tools: PinnedTools): Pick<UpstreamStatus, 'unusable' | 'warned'> {
  const unusable = tools.quarantined().flatMap(({ tool, unusable: why }) => (why === undefined ? [] : [{ tool, why }]));
  const warned = warnedOf(tools).length;
  return { ...(unusable.length === 0 ? {} : { unusable }), ...(warned === 0 ? {} : { warned }) };
}

export function statusOf(name: string, entry: RosterEntry): UpstreamStatus {
  if (entry.kind === 'idle') return { name, state: entry.state, tools: 0, quarantined: 0, restarts: 0, error: entry.why };
  const { pid, state, circuit, restarts, era, sessions, lastError, stderrTail }: SupervisedView = entry.member.view();
  return {
    name,
    state,
    tools: entry.tools.served().length,
    quarantined: entry.tools.quarantined().length,
    ...troubleOf(entry.tools),
    restarts,
    circuit: circuit.state,
    ...placeOf(entry.accepted.spec),
    ...(pid === undefined ? {} : { pid }),
    ...(era === undefined ? {} : { era }),
    ...(sessions === undefined ? {} : { sessions }),
    ...(lastError === undefined ? {} : { error: lastError }),
    ...(stderrTail === undefined || stderrTail === '' ? {} : { stderr: stderrTail }),
  };
}

function placeOf({ transport, sharing }: UpstreamSpec): Pick<UpstreamStatus, 'kind' | 'command' | 'origin' | 'sharing'> {
  if (transport.kind === 'http') return { kind: 'http', origin: new URL(transport.url).origin };
  const command = [transport.command, ...transport.args].join(' ');
  return { kind: 'stdio', command, ...(sharing === 'shared' ? {} : { sharing }) };
}
