// A host of repositories for the real git: bare repositories behind git's own http-backend, over TLS with a certificate nobody vouches for,
// opened by the tokens that a fake GitHub issued and did not take back.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { GithubApp } from '../fixtures/providers/github-app.ts';
import { selfSigned } from './self-signed.ts';

export interface GitHost {
  /** With its port. */
  readonly host: string;
  /** Basic credentials that were sent, in order. */
  readonly passwords: string[];
}

const backend = join(execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim(), 'git-http-backend');

/** `repositories` are made below `folder`, each with one commit, as `acme/NAME.git`. */
export async function startGitHost(folder: string, repositories: readonly string[], github: GithubApp): Promise<GitHost> {
  for (const name of repositories) makeRepository(join(folder, 'acme', `${name}.git`));
  const passwords: string[] = [];
  const server = createServer(selfSigned(), (incoming, outgoing) => {
    const [, basic = ''] = /^Basic (.+)$/.exec(incoming.headers.authorization ?? '') ?? [];
    const password = Buffer.from(basic, 'base64').toString().split(':').slice(1).join(':');
    if (password !== '') passwords.push(password);
    const repository = /^\/acme\/([^/]+)\.git\//.exec(incoming.url ?? '')?.[1] ?? '';
    const opens = github.issued.some(
      ({ token, repositories: of, revoked }) => token === password && !revoked && of?.includes(repository) === true,
    );
    if (opens) return serve(folder, incoming, outgoing);
    return void outgoing.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, passwords };
}

function makeRepository(path: string): void {
  mkdirSync(path, { recursive: true });
  const work = `${path}.work`;
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@acme.example'];
  const env = { PATH: process.env['PATH'] ?? '', GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };
  const git = (...args: string[]): void => void execFileSync('git', args, { env, stdio: 'pipe' });
  git('init', '--quiet', '--bare', path);
  git('init', '--quiet', work);
  git('-C', work, ...identity, 'commit', '--quiet', '--allow-empty', '--message', 'first');
  git('-C', work, 'push', '--quiet', path, 'HEAD:refs/heads/main');
  git('-C', path, 'symbolic-ref', 'HEAD', 'refs/heads/main');
}

/** CGI (RFC 3875), as far as git's backend wants it. */
function serve(folder: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const [path = '', query = ''] = (incoming.url ?? '').split('?');
  const env = {
    PATH: process.env['PATH'] ?? '',
    GIT_PROJECT_ROOT: folder,
    GIT_HTTP_EXPORT_ALL: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    PATH_INFO: path,
    QUERY_STRING: query,
    REQUEST_METHOD: incoming.method ?? '',
    CONTENT_TYPE: incoming.headers['content-type'] ?? '',
    HTTP_CONTENT_ENCODING: incoming.headers['content-encoding'] ?? '',
    GIT_PROTOCOL: String(incoming.headers['git-protocol'] ?? ''),
  };
  const child = spawn(backend, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  incoming.pipe(child.stdin);
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.on('close', () => {
    const answer = Buffer.concat(chunks);
    const end = answer.indexOf('\r\n\r\n');
    const lines = answer.subarray(0, Math.max(0, end)).toString().split('\r\n');
    const headers = Object.fromEntries(lines.map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]));
    const { Status: status = '200', ...rest } = headers;
    outgoing.writeHead(Number.parseInt(status, 10), rest).end(answer.subarray(end + 4));
  });
}
