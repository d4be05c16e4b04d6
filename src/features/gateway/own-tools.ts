// Our own operations as the tools agents see, and the way back from a name to its operation. Knows no agent and no upstream.
import { toJSONSchema } from 'zod';
import type { Operation } from '../../kernel/operation.ts';
import { undotted } from '../../lib/undotted.ts';
import type { Naming } from '../fleet/model.ts';

export interface OwnTools {
  /** Each as the JSON text of its MCP Tool, in the order of the operations. */
  readonly listed: readonly string[];
  /** By the listed name, and by the one on the contract page. */
  operation(name: string): Operation | undefined;
}

/** Throws where two tools would have one name, or one could be taken for an upstream's: whoever declared them has to rename one. */
export function createOwnTools(operations: readonly Operation[], { style }: Pick<Naming, 'style'>): OwnTools {
  const listed: string[] = [];
  const byName = new Map<string, Operation>();
  const taken = new Set<string>();
  for (const operation of operations) {
    if (operation.tool === undefined) continue;
    const name = style === 'safe' ? undotted(operation.tool.name) : operation.tool.name;
    if (taken.has(name.toLowerCase())) throw new Error(`two own tools are called '${name}'`);
    if (name.includes('__')) throw new Error(`the own tool '${name}' has a name like those of upstreams`);
    taken.add(name.toLowerCase());
    listed.push(toolText(operation, name));
    byName.set(name, operation);
    byName.set(operation.tool.name, operation);
  }
  return { listed, operation: (name) => byName.get(name) };
}

/** An own operation as an MCP Tool (schema 2025-11-25), derived from its declaration. */
function toolText(operation: Operation, name: string): string {
  const { $schema: _, ...inputSchema } = toJSONSchema(operation.input, { io: 'input' });
  return JSON.stringify({
    name,
    description: operation.description === undefined ? operation.summary : `${operation.summary}\n\n${operation.description}`,
    inputSchema,
    ...(operation.tool?.annotations === undefined ? {} : { annotations: operation.tool.annotations }),
  });
}
