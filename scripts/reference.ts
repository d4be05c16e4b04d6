// Writes the reference pages in docs/ from the declarations themselves: `npm run docs`. test/catalog.test.ts holds them to it.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { toJSONSchema } from 'zod';
import { declaredOperations } from '../src/app/catalog.ts';
import { programCommands } from '../src/app/program.ts';
import { commandHelp } from '../src/faces/cli/help.ts';
import { auditEvents } from '../src/features/audit/model.ts';
import type { Operation } from '../src/kernel/operation.ts';

interface Property {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly items?: Property;
}

const generated = 'Generated from the declarations by `npm run docs`; edit those.';

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

function typeOf(property: Property): string {
  if (property.enum !== undefined) return property.enum.map((value) => JSON.stringify(value)).join(' or ');
  if (property.items !== undefined) return `array of ${typeOf(property.items)}`;
  return [property.type ?? 'any'].flat().join(' or ');
}

function inputTable(operation: Operation): string {
  const schema = toJSONSchema(operation.input, { io: 'input' }) as {
    readonly properties?: Readonly<Record<string, Property>>;
    readonly required?: readonly string[];
  };
  const rows = Object.entries(schema.properties ?? {}).map(
    ([name, property]) =>
      `| \`${name}\` | ${cell(typeOf(property))} | ${schema.required?.includes(name) === true ? 'yes' : 'no'} | ${cell(property.description ?? '')} |`,
  );
  if (rows.length === 0) return 'No arguments.';
  return ['| argument | type | required | |', '|---|---|---|---|', ...rows].join('\n');
}

function toolsPage(operations: readonly Operation[]): string {
  const tools = operations
    .filter(({ tool }) => tool !== undefined)
    .map((operation) => {
      const hints = Object.entries(operation.tool?.annotations ?? {}).map(([name, value]) => `\`${name}: ${String(value)}\``);
      return [
        `## ${operation.tool?.name ?? ''}`,
        operation.summary,
        operation.description,
        inputTable(operation),
        hints.length === 0 ? undefined : `Annotations: ${hints.join(', ')}`,
      ]
        .filter((part) => part !== undefined)
        .join('\n\n');
    });
  return `# Tools\n\n${generated}\n\n${tools.join('\n\n')}\n`;
}

function commandsPage(): string {
  const operations = declaredOperations();
  const commands = programCommands({ environment: {}, operations, startDaemon: () => Promise.reject(new Error()) }, '~/.sallyport');
  const pages = commands.map(
    (command) => `## sallyport ${command.words.join(' ')}\n\n\`\`\`\n${commandHelp(command).trimEnd()}\n\`\`\``,
  );
  return `# Commands\n\n${generated}\n\n${pages.join('\n\n')}\n`;
}

function eventsPage(): string {
  return `# Events of the record\n\n${generated}\n\n${auditEvents.map((event) => `- \`${event}\``).join('\n')}\n`;
}

/** Path from the root of the package → text. */
export function referencePages(): ReadonlyMap<string, string> {
  return new Map([
    ['docs/tools.md', toolsPage(declaredOperations())],
    ['docs/commands.md', commandsPage()],
    ['docs/events.md', eventsPage()],
  ]);
}

/** The page as it stands in the tree; empty when it is not there. */
export function writtenPage(path: string): string {
  try {
    return readFileSync(pathOf(path), 'utf8');
  } catch {
    return '';
  }
}

const pathOf = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, text] of referencePages()) writeFileSync(pathOf(path), text);
}
