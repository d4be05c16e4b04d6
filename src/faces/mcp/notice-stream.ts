// An event stream of notices over one HTTP answer, cut when its client does not keep up. Knows nothing of what it carries.
import type { HttpReply } from '../../wire/http-exchange.ts';
import { encodeEvent, keepAliveEvent } from '../../wire/sse.ts';
import type { NoticeStream } from './in-flight.ts';
import { maxBacklogBytes, streamHeaders } from './reply-slot.ts';

/** Opens with the first thing written. `gone` runs when the client left or the stream was ended here; it may run twice. */
export function createNoticeStream(reply: HttpReply, gone: (stream: NoticeStream) => void): NoticeStream {
  let open = false;
  const write = (text: string): void => {
    if (!open) reply.open(streamHeaders);
    open = true;
    if (reply.backlog() > maxBacklogBytes) reply.cut();
    else reply.write(text);
  };
  const stream: NoticeStream = {
    send: (message) => write(encodeEvent(message)),
    offer(message) {
      if (reply.backlog() > maxBacklogBytes) return false;
      write(encodeEvent(message));
      return true;
    },
    keepAlive: () => write(keepAliveEvent),
    end() {
      gone(stream);
      reply.end();
    },
  };
  reply.onGone(() => gone(stream));
  return stream;
}
