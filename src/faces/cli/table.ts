// Plain tables and key/value lines for any output that has no drawing of its own. Knows no product word.
import { printable } from '../../lib/printable.ts';

type Row = Readonly<Record<string, unknown>>;

/** Left-aligned columns two spaces apart; the last is not padded. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, cell.length)));
  return rows.map((row) =>
    row
      .map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

/** A list of objects as a table, an object as key/value lines, anything else as itself. Every text in it is made printable. */
export function drawPlain(output: unknown): string {
  if (Array.isArray(output)) return drawList(output);
  if (isRow(output)) return drawObject(output);
  return output === undefined || output === null ? 'done' : cell(output);
}

function drawList(list: readonly unknown[]): string {
  if (list.length === 0) return 'nothing to show';
  if (!list.every(isRow)) return list.map(cell).join('\n');
  const keys = [...new Set(list.flatMap((row) => Object.keys(row)))].filter((key) => list.some((row) => isFlat(row[key])));
  return columns([keys.map((key) => heading(key).toUpperCase()), ...list.map((row) => keys.map((key) => cell(row[key])))]).join(
    '\n',
  );
}

/** Nested objects are indented under their key; lists of texts go on one line. */
function drawObject(row: Row, indent = ''): string {
  const flat = Object.entries(row).filter(([, value]) => isFlat(value));
  const deep = Object.entries(row).filter(([, value]) => value !== undefined && !isFlat(value));
  const lines = columns(flat.map(([key, value]) => [`${indent}${heading(key)}`, cell(value)]));
  for (const [key, value] of deep) {
    lines.push(`${indent}${heading(key)}`);
    if (isRow(value)) lines.push(drawObject(value, `${indent}  `));
    else if (Array.isArray(value))
      lines.push(
        ...drawList(value)
          .split('\n')
          .map((line) => `${indent}  ${line}`),
      );
  }
  return lines.join('\n');
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isFlat(value: unknown): boolean {
  if (value === undefined) return false;
  if (Array.isArray(value)) return value.every((member) => typeof member !== 'object' || member === null);
  return !isRow(value) || Object.keys(value).length === 0;
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return '-';
  if (typeof value === 'string') return value === '' ? '-' : printable(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value) && isFlat(value)) return value.length === 0 ? '-' : value.map(cell).join(', ');
  if (isRow(value) && Object.keys(value).length === 0) return '-';
  return printable(JSON.stringify(value));
}

function heading(key: string): string {
  return printable(key)
    .replaceAll('_', ' ')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase();
}
