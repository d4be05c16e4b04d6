// The operator's log on stderr: JSON lines for machines, one readable line for a terminal. It redacts nothing, because
// nothing secret may be given to it (kernel/ports.ts, Log).
import { pino } from 'pino';
import type { DestinationStream } from 'pino';
import { printable } from '../lib/printable.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Log } from '../kernel/ports.ts';

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LogOptions {
  readonly level: LogLevel;
  /** Where lines go; drawn for a person when it is a terminal. */
  readonly stream: {
    write(line: string): unknown;
    on?(event: 'error', listener: () => void): unknown;
    readonly isTTY?: boolean;
  };
}

const ownFields = new Set(['time', 'level', 'message']);

/** A field that has the name of one of the line's own is written with `_` behind it: two equal keys would be read at random. */
function apart(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [ownFields.has(key) ? `${key}_` : key, value]));
}

/** `12:03:04 warn  message  key=value`, in the terminal's local time. */
function drawn(line: string): string {
  const { time, level, message, ...fields } = JSON.parse(line) as { time: string; level: string; message: string };
  const clock = new Date(time).toLocaleTimeString('en-GB');
  const pairs = Object.entries(fields).map(([key, value]: [string, unknown]) => {
    const text = typeof value === 'string' && /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value);
    return `${key}=${text}`;
  });
  return `${printable([`${clock} ${level.padEnd(5)} ${message}`, ...pairs].join('  '))}\n`;
}

export function createLog({ level, stream }: LogOptions): Log {
  // Whoever read the log may go away (EPIPE); that must not end the daemon.
  stream.on?.('error', () => {});
  const destination: DestinationStream = {
    write: (line: string) => void stream.write(stream.isTTY === true ? drawn(line) : line),
  };
  const logger = pino(
    {
      level,
      base: null,
      messageKey: 'message',
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  const write =
    (label: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, fields: JsonObject = {}): void =>
      logger[label](apart(fields), message);
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}
