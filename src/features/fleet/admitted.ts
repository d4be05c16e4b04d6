// One request to an upstream, let through as a state machine says, which is told how it ended; made once more where it is certain that
// nothing was done. Knows neither whose machine it is nor how the request travels.
import { asAppError, type AppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Clock, UpstreamClient, UpstreamReply, UpstreamSubject } from '../../kernel/ports.ts';
import { admit, type Admission, type Member, type MemberEvent } from './member.ts';
import type { Party } from './model.ts';
import { circuitOpen, down, loginNeeded, named, waitingForSecrets } from './refusals.ts';

export interface SupervisedCall extends Omit<Party, 'agent'> {
  /** Whose session it is; where nobody says, the session stands for itself. */
  readonly agent?: string | undefined;
  readonly method: string;
  readonly params: string | undefined;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly onProgress?: ((note: JsonObject) => void) | undefined;
  readonly subject?: UpstreamSubject | undefined;
  readonly client?: UpstreamClient | undefined;
  /** Until when it was let pass, milliseconds since the epoch: a token minted for it lives no longer. */
  readonly until?: number | undefined;
  /** Asked when the session is ready and its list is fresh, before anything is sent; what it throws is the answer. */
  readonly verify?: () => void;
  /** Instead of a request: a wish to be told of this resource, however the upstream takes it. */
  readonly follows?: string;
}

/** Who lets requests through, and takes note of their ends. */
export interface Desk {
  readonly upstream: string;
  readonly clock: Clock;
  member(): Member;
  apply(event: MemberEvent): void;
  /** Why the last one failed, for people. */
  lastFailure(): string | undefined;
  /** Names of secrets it waits for. */
  missing?(): readonly string[];
  ended(): boolean;
  /** `deadline` in monotonic milliseconds. */
  send(call: SupervisedCall, deadline: number): Promise<UpstreamReply>;
  /** `probe`: it was let through to find out; `last`: it is not made again. */
  failed(error: AppError, probe: boolean, last: boolean): void;
}

/** With these it is certain that nothing was done, so one fresh try is no repetition. */
const unsent: ReadonlySet<string> = new Set(['fleet.exited', 'fleet.session_lost']);

/** Rejects with the `fleet.*` codes, the upstream's name in every sentence. */
export async function admitted(desk: Desk, call: SupervisedCall): Promise<UpstreamReply> {
  const { upstream, clock } = desk;
  const deadline = clock.monotonic() + call.timeoutMs;
  for (let again = true; ; again = false) {
    const admission = admit(desk.member(), clock.monotonic());
    if (admission.kind === 'refuse') throw refusal(desk, admission);
    if (admission.probe) desk.apply({ kind: 'probe_taken' });
    try {
      const reply = await desk.send(call, deadline);
      if (desk.member().failures > 0 || admission.probe) desk.apply({ kind: 'call_succeeded' });
      return reply;
    } catch (thrown) {
      const error = named(upstream, asAppError(thrown));
      desk.failed(error, admission.probe, !again);
      if (again && !desk.ended() && unsent.has(error.code) && error.data?.['sent'] === false) continue;
      throw error;
    }
  }
}

function refusal(desk: Desk, refused: Extract<Admission, { kind: 'refuse' }>): AppError {
  if (refused.why === 'secrets') return waitingForSecrets(desk.upstream, desk.missing?.() ?? []);
  if (refused.why === 'login') return loginNeeded(desk.upstream, desk.lastFailure());
  return (refused.why === 'circuit' ? circuitOpen : down)(desk.upstream, refused.retryAfterMs, desk.lastFailure());
}

/** What says that an upstream does not work, once something was sent. */
const failures: ReadonlySet<string> = new Set(['fleet.timeout', 'fleet.protocol', 'fleet.failed']);

/** Does this end count against the upstream? */
export function counts({ code, data }: AppError): boolean {
  return failures.has(code) && data?.['sent'] !== false;
}
