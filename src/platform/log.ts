// The operator's log on stderr: JSON lines for machines, one readable line for a terminal. It redacts nothing, because
// nothing secret may be given to it (kernel/ports.ts, Log).
import { pino } from 'pino';
import type { DestinationStream } from 'pino';
import type { JsonObject } from '../kernel/json.ts';
import type { Log } from '../kernel/ports.ts';

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LogOptions {
  readonly level: LogLevel;
  /** Where lines go; drawn for a person when it is a terminal. */
  readonly stream: { write(line: string): unknown; readonly isTTY?: boolean };
}

// A terminal obeys control characters, and C1 ones and bidi marks rewrite what a reader sees: they are shown, never sent.
// oxlint-disable-next-line no-control-regex
const unprintable = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

function printable(text: string): string {
  return text.replace(unprintable, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** `12:03:04 warn  message  key=value`, in the terminal's local time. */
function drawn(line: string): string {
  const { time, level, msg, ...fields } = JSON.parse(line) as { time: string; level: string; msg: string };
  const clock = new Date(time).toLocaleTimeString('en-GB');
  const pairs = Object.entries(fields).map(([key, value]: [string, unknown]) => {
    const text = typeof value === 'string' && /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value);
    return `${key}=${text}`;
  });
  return `${printable([`${clock} ${level.padEnd(5)} ${msg}`, ...pairs].join('  '))}\n`;
}

export function createLog({ level, stream }: LogOptions): Log {
  const destination: DestinationStream = {
    write: (line: string) => void stream.write(stream.isTTY === true ? drawn(line) : line),
  };
  const logger = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  const write =
    (label: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, fields: JsonObject = {}): void =>
      logger[label](fields, message);
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}
