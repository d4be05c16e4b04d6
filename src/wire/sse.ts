// Server-sent events (WHATWG HTML §9.2): one message per event, written whole and read from chunks cut anywhere.
// Knows nothing of what an event says. Our own streams have no ids, because none of them can be resumed; those of upstreams may.

/** A comment: keeps proxies from closing a quiet stream and shows us a peer that is gone. */
export const keepAliveEvent = ': keep-alive\n\n';

/** A line break inside the data becomes a `data:` line of its own, as the format wants it. */
export function encodeEvent(data: string): string {
  if (!data.includes('\n') && !data.includes('\r')) return `event: message\ndata: ${data}\n\n`;
  return `event: message\ndata: ${data.replace(/\r\n|\r|\n/g, '\ndata: ')}\n\n`;
}

export interface EventReader {
  push(chunk: Uint8Array): void;
}

export interface EventReaderOptions {
  /** UTF-16 units of one event. */
  readonly maxLength: number;
  readonly onData: (data: string) => void;
  /** Events of another type than `message`. */
  readonly onOther?: (type: string, data: string) => void;
  /** Where the stream can be resumed from now on; called before the event that carries the id, which may have no data. */
  readonly onPosition?: (id: string) => void;
  /** How many milliseconds to wait before the stream is opened again. */
  readonly onRetry?: (ms: number) => void;
}

/**
 * Calls `onData` once per event of type `message`, in order. An event longer than `maxLength`, or bytes that are not UTF-8, make `push`
 * throw a RangeError or TypeError: the stream cannot be trusted any further.
 */
export function createEventReader(options: EventReaderOptions): EventReader {
  const { maxLength, onData } = options;
  // Drops a byte order mark, as the format says.
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest: string[] = [];
  let held = 0;
  let data: string[] = [];
  let type = '';
  let id: string | undefined;
  let afterReturn = false;

  function hold(length: number): void {
    held += length;
    if (held > maxLength) throw new RangeError(`an event is longer than ${maxLength} characters`);
  }

  function field(line: string): void {
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'data') data.push(value);
    else if (name === 'event') type = value;
    else if (name === 'id' && !value.includes('\0')) id = value;
    else if (name === 'retry' && /^\d{1,9}$/.test(value)) options.onRetry?.(Number(value));
  }

  function endLine(line: string): void {
    if (line !== '') {
      field(line);
      return;
    }
    const text = data.join('\n');
    const kind = type;
    data = [];
    type = '';
    held = 0;
    if (id !== undefined) options.onPosition?.(id);
    id = undefined;
    // An event without data is a mere sign of life.
    if (text === '') return;
    if (kind === '' || kind === 'message') onData(text);
    else options.onOther?.(kind, text);
  }

  return {
    push(chunk) {
      let text = decoder.decode(chunk, { stream: true });
      if (text === '') return;
      if (afterReturn && text[0] === '\n') text = text.slice(1);
      afterReturn = text === '' ? false : text.endsWith('\r');
      let from = 0;
      for (let at = lineEnd(text, 0); at !== -1; at = lineEnd(text, from)) {
        const part = text.slice(from, at);
        hold(part.length);
        rest.push(part);
        const line = rest.join('');
        rest = [];
        endLine(line);
        from = text[at] === '\r' && text[at + 1] === '\n' ? at + 2 : at + 1;
      }
      if (from < text.length) {
        hold(text.length - from);
        rest.push(text.slice(from));
      }
    },
  };
}

/** The next CR or LF. Our own streams hold no CR, so the search for one is bounded by the LF found first. */
function lineEnd(text: string, from: number): number {
  const feed = text.indexOf('\n', from);
  const back = (feed === -1 ? text.slice(from) : text.slice(from, feed)).indexOf('\r');
  return back === -1 ? feed : from + back;
}
