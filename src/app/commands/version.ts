// `sallyport version`: which Sallyport, on which runtime.
import { z } from 'zod';
import type { Command } from '../../faces/cli/command.ts';
import { programVersion } from '../package-files.ts';

export function versionCommand(): Command {
  return {
    words: ['version'],
    summary: 'Print the version.',
    input: z.strictObject({}),
    positionals: [],
    signed: false,
    run({ json }, cli) {
      const version = programVersion();
      const node = process.versions.node;
      cli.out(json ? JSON.stringify({ version, node }) : `sallyport ${version} (Node.js ${node})`);
      return Promise.resolve(0);
    },
  };
}
