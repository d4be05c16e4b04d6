import { expect, it } from 'vitest';
import type { Cli } from '../../faces/cli/ports.ts';
import { AppError } from '../../kernel/errors.ts';
import type { TokenAnswer } from '../../kernel/ports.ts';
import { gitCredentialCommand } from './git-credential.ts';

const question = 'protocol=https\nhost=github.com\npath=acme/api.git\n\n';

/** What the helper says to git and to whoever reads, with this in the place of the daemon. */
async function helped(answer: () => Promise<TokenAnswer>, action = 'get') {
  const said = { out: [] as string[], note: [] as string[] };
  const command = gitCredentialCommand({
    environment: { SALLYPORT_TOKEN: 'sp_agent', SALLYPORT_HOME: '/nonexistent/sallyport-home' },
    http: { request: answer },
    readInput: async () => new TextEncoder().encode(question),
  });
  const cli = { out: (text: string) => said.out.push(text), note: (text: string) => said.note.push(text) } as unknown as Cli;
  expect(await command.run({ given: { action }, json: false }, cli)).toBe(0);
  return said;
}

const answering = (status: number, body: string) => async (): Promise<TokenAnswer> => ({ status, headers: {}, body });

it('[GIT-8] what listens in the place of the daemon is told, and not one word of what it said', async () => {
  const { out, note } = await helped(answering(200, '<html>ghs_secret'));
  expect(out).toEqual(['quit=1']);
  expect(note.join()).toContain('no daemon of ours');
  expect(note.join()).not.toContain('ghs_secret');
});

it('[GIT-8] without a daemon git is told to quit, and the person how to start one', async () => {
  const absent = () => Promise.reject(new AppError('unavailable', 'auth.unreachable', 'http://127.0.0.1:7077 refuses connections'));
  const { out, note } = await helped(absent);
  expect([out, note.join().includes('sallyport up')]).toEqual([['quit=1'], true]);
  expect(await helped(absent, 'erase')).toEqual({ out: [], note: [] });
});

it('[GIT-8] an answer that would be more lines than it has attributes is not passed on', async () => {
  const { out } = await helped(answering(200, JSON.stringify({ username: 'u', password: 'p\nurl=https://evil.example' })));
  expect(out).toEqual(['quit=1']);
});
