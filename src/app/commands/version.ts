// `sallyport version`: which Sallyport, on which runtime.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Command } from '../../faces/cli/command.ts';

/** From the package this file belongs to, built or not. */
export function packageVersion(): string {
  const manifest = new URL('../../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}

export function versionCommand(): Command {
  return {
    words: ['version'],
    summary: 'Print the version.',
    input: z.strictObject({}),
    positionals: [],
    signed: false,
    run({ json }, cli) {
      const version = packageVersion();
      const node = process.versions.node;
      cli.out(json ? JSON.stringify({ version, node }) : `sallyport ${version} (Node.js ${node})`);
      return Promise.resolve(0);
    },
  };
}
