// An upstream of 2026-07-28 that needs more before it answers, and a client of 2025 that can be asked in mid-call: the questions of a round
// go to the client all at once, and the request goes upstream again with the answers. One admission, one intent, bounded rounds.
import type { ClientHost } from '../../kernel/client-host.ts';
import { AppError, asAppError } from '../../kernel/errors.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { Clock } from '../../kernel/ports.ts';
import { printable } from '../../lib/printable.ts';
import type { UpstreamAnswer } from '../fleet/fleet.ts';
import { isObject } from './ask-verdict.ts';

export const mostRounds = 8;
/** For people to answer in, over all rounds; the time upstream is not part of it. */
export const answerTimeMs = 10 * 60_000;
const mostQuestions = 32;

export interface Fulfilment {
  readonly upstream: string;
  readonly host: ClientHost;
  /** Of the call. */
  readonly signal: AbortSignal;
  /** The same request again, with this beside its params. */
  readonly send: (more: JsonObject) => Promise<UpstreamAnswer>;
  /** Called before each repetition; what it throws is the answer. */
  readonly record: (round: number, more: JsonObject) => void;
}

export type NeedsInput = Extract<UpstreamAnswer, { kind: 'result' }>;

export function needsInput(answer: UpstreamAnswer): answer is NeedsInput {
  return answer.kind === 'result' && answer.value['resultType'] === 'input_required';
}

/** The questions of such an answer (`InputRequiredResult`, schema 2026-07-28); throws `gateway.not_answered` for what is none. */
export function questionsOf(upstream: string, { value }: { readonly value: JsonObject }): readonly Question[] {
  const { inputRequests = {} } = value;
  if (!isObject(inputRequests)) throw notAnswered(upstream, 'its questions are no object');
  const entries = Object.entries(inputRequests);
  if (entries.length > mostQuestions) throw notAnswered(upstream, `it asks more than ${mostQuestions} things at once`);
  return entries.map(([key, asked]) => {
    const { method, params = {} } = isObject(asked) ? asked : {};
    if (typeof method !== 'string' || !isObject(params)) throw notAnswered(upstream, 'one of its questions is no request');
    return { key, method, params };
  });
}

export interface Question {
  readonly key: string;
  readonly method: string;
  readonly params: JsonObject;
}

/** The first answer that needs nothing more. Throws `gateway.not_answered`, `fleet.cancelled`, or what sending throws. */
export async function fulfil(clock: Clock, first: UpstreamAnswer, call: Fulfilment): Promise<UpstreamAnswer> {
  let answer = first;
  let leftMs = answerTimeMs;
  for (let round = 1; needsInput(answer); round += 1) {
    if (round > mostRounds) throw notAnswered(call.upstream, `it still asks after ${mostRounds} rounds of answers`);
    const startedAt = clock.monotonic();
    const { requestState } = answer.value;
    const inputResponses = await askAll(clock, questionsOf(call.upstream, answer), call, leftMs);
    leftMs -= clock.monotonic() - startedAt;
    const more: JsonObject = {
      ...(inputResponses === undefined ? {} : { inputResponses }),
      ...(requestState === undefined ? {} : { requestState }),
    };
    call.record(round, more);
    answer = await call.send(more);
  }
  return answer;
}

/** One that gets no answer ends them all: an upstream takes all answers of a round, or none. */
async function askAll(
  clock: Clock,
  questions: readonly Question[],
  { upstream, host, signal }: Fulfilment,
  leftMs: number,
): Promise<JsonObject | undefined> {
  if (questions.length === 0) return undefined;
  const over = new AbortController();
  const stopTimer = clock.after(Math.max(0, leftMs), () => over.abort());
  const cancel = (): void => over.abort();
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    const ask = async ({ key, method, params }: Question): Promise<readonly [string, Json]> => {
      const reply = await host.ask({ method, params: JSON.stringify(params), signal: over.signal });
      if (reply.kind === 'result') return [key, reply.value];
      throw notAnswered(upstream, `${method} was refused: ${messageOf(reply.json)}`);
    };
    return Object.fromEntries(await Promise.all(questions.map(ask)));
  } catch (thrown) {
    const error = asAppError(thrown);
    if (error.code !== 'fleet.cancelled') throw error;
    if (signal.aborted) throw new AppError('unavailable', 'fleet.cancelled', 'The call was cancelled.', { data: { sent: true } });
    throw notAnswered(upstream, `nobody answered within ${answerTimeMs / 60_000} minutes`);
  } finally {
    signal.removeEventListener('abort', cancel);
    stopTimer();
    over.abort();
  }
}

function messageOf(error: string): string {
  const { message } = JSON.parse(error) as { readonly message?: unknown };
  return printable(String(message).slice(0, 200));
}

export function notAnswered(upstream: string, why: string): AppError {
  return new AppError(
    'unavailable',
    'gateway.not_answered',
    `Upstream '${upstream}' asked for further input and did not get it: ${why}.`,
    {
      hint: 'Call with everything it needs in the arguments, or answer what it asks.',
      data: { sent: true },
    },
  );
}
