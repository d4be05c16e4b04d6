// `sallyport audit verify` while no daemon runs: the same check over the files alone, with what they cannot tell left out: the
// checkpoints that the daemon and its database remember.
import { join } from 'node:path';
import { verifyFolder } from '../../features/audit/verify.ts';
import type { Command } from '../../faces/cli/command.ts';
import { draw, exitCodeOfOutput } from '../../faces/cli/operation-commands.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Operation } from '../../kernel/operation.ts';
import { printableJson } from '../../lib/printable.ts';
import { createDigest, createVerifier } from '../../platform/crypto.ts';
import { daemonAbsent } from '../../platform/daemon-client.ts';
import { createFiles } from '../../platform/files.ts';

interface Given {
  readonly against?: string;
  readonly against_note?: string;
}

/** The same commands, where the one that verifies falls back to the folder of the home. Output and exit codes are the same. */
export function verifyingOffline(commands: readonly Command[], operations: readonly Operation[], home: string): Command[] {
  const operation = operations.find(({ name }) => name === 'audit.verify');
  const words = operation?.command?.words;
  return commands.map((command) =>
    operation !== undefined && command.words.join(' ') === words ? withFallback(command, operation, home) : command,
  );
}

function withFallback(command: Command, operation: Operation, home: string): Command {
  return {
    ...command,
    description: 'Works without a daemon too, on the files alone.',
    async run(invocation, cli) {
      try {
        return await command.run(invocation, cli);
      } catch (error) {
        if (!(error instanceof AppError && error.code === daemonAbsent)) throw error;
      }
      const output = {
        ...(await verifyFolder(createFiles(), join(home, 'audit'), {
          digest: createDigest(),
          verifier: createVerifier(),
          held: await notesHeld(invocation.given, (path) => cli.absolute(path)),
        })),
        available: false,
        reason: 'no daemon is running',
      };
      cli.out(invocation.json ? printableJson(output) : draw(operation, output));
      return exitCodeOfOutput(output);
    },
  };
}

async function notesHeld(
  { against, against_note: text }: Given,
  absolute: (path: string) => string,
): Promise<{ where: string; note: string }[]> {
  const where = 'the checkpoint you hold';
  const held = text === undefined ? [] : [{ where, note: text }];
  if (against === undefined) return held;
  const note = await createFiles().readText(absolute(against));
  if (note === undefined) throw new AppError('not_found', 'audit.not_found', `There is no file ${absolute(against)}.`);
  return [...held, { where, note }];
}
