// The one place where a door of ours turns what was thrown into an answer, and logs what nobody expected.
import type { Hono } from 'hono';
import { AppError, asAppError } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/ports.ts';
import { bodyOf, statusOf } from './answers.ts';

export function answerErrors(door: Hono, log: Log, name: 'local' | 'human'): void {
  door.onError((thrown, context) => {
    const error = asAppError(thrown);
    if (error.kind === 'internal') log.error(`${name} door: unexpected error`, { error: stackWithoutMessage(thrown) });
    if (error.retryAfterMs !== undefined) context.header('Retry-After', String(Math.ceil(error.retryAfterMs / 1000)));
    return context.json(bodyOf(error), statusOf(error.kind));
  });
  door.notFound((context) => {
    const error = new AppError('not_found', 'http.not_found', 'there is nothing here');
    return context.json(bodyOf(error), 404);
  });
}

/** Where it happened, without what it happened to: a message may quote values, frames do not. */
function stackWithoutMessage(thrown: Error): string {
  const frames = (thrown.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return [thrown.name, ...frames.slice(0, 8).map((frame) => frame.trim())].join(' ');
}
