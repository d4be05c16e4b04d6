// `sallyport status`: whether a daemon runs for this home, where its doors are, and how much waits.
import { z } from 'zod';
import type { Command } from '../../faces/cli/command.ts';
import { drawPlain } from '../../faces/cli/table.ts';
import { AppError } from '../../kernel/errors.ts';
import { printableJson } from '../../lib/printable.ts';
import { daemonAbsent } from '../../platform/daemon-client.ts';

export function statusCommand(home: string): Command {
  return {
    words: ['status'],
    summary: 'Show whether the daemon runs, where its doors are and how much waits for a decision.',
    description: 'Exit code 1 when no daemon runs, so that a script can ask.',
    input: z.strictObject({}),
    positionals: [],
    signed: false,
    async run({ json }, cli) {
      const facts = await cli.daemon.status().catch((error: unknown) => {
        if (error instanceof AppError && error.code === daemonAbsent) return undefined;
        throw error;
      });
      const answer = facts === undefined ? { running: false, home } : { running: true, ...facts };
      if (json) cli.out(printableJson(answer));
      else cli.out(facts === undefined ? `No daemon is running for ${home}. Start it with: sallyport up` : drawPlain(answer));
      return facts === undefined ? 1 : 0;
    },
  };
}
