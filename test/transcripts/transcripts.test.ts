// Runs every transcript in this folder against the real program, each in a home of its own. The language is in transcript.ts.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runTranscript } from '../support/transcript.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
const transcripts = readdirSync(folder).filter((name) => name.endsWith('.txt'));

test('there are transcripts', () => {
  expect(transcripts.length).toBeGreaterThan(3);
});

test.each(transcripts.map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const))(
  '[CLI-1] what %s shows is what happens',
  async (_, text) => {
    const { commands, mismatch } = await runTranscript(text);
    expect(mismatch).toBeUndefined();
    expect(commands).toBeGreaterThan(0);
  },
  120_000,
);
