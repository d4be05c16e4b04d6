// A log that keeps its lines for a test to read.
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Log } from '../../src/kernel/ports.ts';

export function silentLog(): Log & { readonly lines: string[] } {
  const lines: string[] = [];
  const write =
    (level: string) =>
    (message: string, fields: JsonObject = {}): void =>
      void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  return { lines, debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}
