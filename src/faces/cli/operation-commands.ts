// Commands derived from operations: what an operation declares is the whole of its command.
import { printableDeep, printableJson } from '../../lib/printable.ts';
import type { Operation } from '../../kernel/operation.ts';
import type { Command, Invocation } from './command.ts';
import { fieldsOf } from './fields.ts';
import { decide } from './operator-flow.ts';
import type { Cli } from './ports.ts';
import { drawPlain } from './table.ts';

/** The commands of all operations that have a command face, in their order. */
export function commandsOf(operations: readonly Operation[]): Command[] {
  return operations.flatMap((operation) => {
    const face = operation.command;
    if (face === undefined) return [];
    return [
      {
        words: face.words.split(' '),
        summary: operation.summary,
        ...(operation.description === undefined ? {} : { description: operation.description }),
        input: operation.input,
        positionals: face.positionals ?? [],
        ...(face.rest === undefined ? {} : { rest: face.rest }),
        signed: operation.access === 'operator',
        async run({ given: typed, json }: Invocation, cli: Cli) {
          const given = withAbsolutePaths(operation, typed, cli);
          const output =
            operation.access === 'operator' ? await decide(operation, given, cli) : await cli.daemon.operate(operation.name, given);
          cli.out(json ? printableJson(output) : draw(operation, output));
          return exitCodeOfOutput(output);
        },
      },
    ];
  });
}

function withAbsolutePaths(operation: Operation, typed: Invocation['given'], cli: Cli): Invocation['given'] {
  const paths = fieldsOf(operation.input).filter(({ name, isPath }) => isPath && typeof typed[name] === 'string');
  return { ...typed, ...Object.fromEntries(paths.map(({ name }) => [name, cli.absolute(typed[name] as string)])) };
}

/** 1 when the output says of itself that the check failed (`ok: false`), so that scripts may rely on it. */
export function exitCodeOfOutput(output: unknown): number {
  return typeof output === 'object' && output !== null && 'ok' in output && output.ok === false ? 1 : 0;
}

/** For a person. Texts are cleaned before they are drawn, so that no drawing has to remember to. */
export function draw(operation: Operation, output: unknown): string {
  const drawing = operation.command?.draw as ((output: unknown) => string) | undefined;
  return drawing === undefined ? drawPlain(output) : drawing(printableDeep(output));
}
