import { expect, test } from 'vitest';
import type { HttpReply } from '../../wire/http-exchange.ts';
import { createNoticeStream } from './notice-stream.ts';
import { maxBacklogBytes } from './reply-slot.ts';

test('[TWOWAY-10] [DOOR-8] for a client that is behind, what may be lost is passed over, and what may not cuts its stream', () => {
  const seen: string[] = [];
  let backlog = 0;
  const reply: HttpReply = {
    send: () => undefined,
    open: () => void seen.push('open'),
    write: (text) => void seen.push(text),
    end: () => undefined,
    backlog: () => backlog,
    cut: () => void seen.push('cut'),
    onGone: () => undefined,
  };
  const stream = createNoticeStream(reply, () => undefined);
  expect(stream.offer('1')).toBe(true);
  backlog = maxBacklogBytes + 1;
  expect(stream.offer('2')).toBe(false);
  expect(seen).toEqual(['open', 'event: message\ndata: 1\n\n']);
  stream.send('3');
  expect(seen.slice(2)).toEqual(['cut']);
});
