// What agents may say when they propose an upstream, and how the rest is refused.
import { describe, expect, test } from 'vitest';
import { asAppError } from '../../kernel/errors.ts';
import { readEnvelope } from './envelope.ts';

const http = { kind: 'http', url: 'https://g.example.com/mcp' };
const stdio = { kind: 'stdio', command: 'npx', args: ['-y', 'server@1.2.3'] };

function refusal(raw: Readonly<Record<string, unknown>>): string {
  try {
    readEnvelope(raw);
  } catch (thrown) {
    const { kind, code, message } = asAppError(thrown);
    return `${kind} ${code}: ${message}`;
  }
  return '';
}

describe('an envelope', () => {
  test('[REG-1] is one name of the catalogue, or name, transport and auth', () => {
    expect(readEnvelope({ from_registry: 'github' })).toEqual({ kind: 'catalogue', entry: 'github' });
    const auth = { type: 'bearer', secretRef: 'grafana_token' };
    expect(readEnvelope({ name: 'grafana', transport: http, auth })).toEqual({
      kind: 'manual',
      name: 'grafana',
      transport: http,
      auth,
    });
    expect(readEnvelope({ name: 'up', transport: { kind: 'stdio', command: 'up' } })).toEqual({
      kind: 'manual',
      name: 'up',
      transport: { kind: 'stdio', command: 'up', args: [] },
      auth: { type: 'none' },
    });
  });

  test.each([
    [{}, "Invalid or missing 'name'"],
    [{ from_registry: 'github', name: 'github' }, 'EITHER'],
    [{ from_registry: '../x' }, "Invalid 'from_registry'"],
    [{ from_registry: 7 }, "Invalid 'from_registry'"],
    ...['', 'Up', 'a__b', '-a', 'a b', 'ａ', 'gіthub', 'a'.repeat(65), 7, null].map(
      (name) => [{ name, transport: http }, "Invalid or missing 'name'"] as const,
    ),
    ...['vault', 'sallyport', 'scopegate', 'git', 'plan', 'hack', 'hangar'].map(
      (name) => [{ name, transport: http }, 'keeps for itself'] as const,
    ),
    [{ name: 'up' }, "Invalid or missing 'transport.kind'"],
    [{ name: 'up', transport: 'http' }, "Invalid or missing 'transport.kind'"],
    [{ name: 'up', transport: { kind: 'openapi', spec: 'x' } }, 'openapi is not supported'],
    [{ name: 'up', transport: { kind: 'http' } }, "Missing 'transport.url'"],
    [{ name: 'up', transport: { kind: 'stdio' } }, "Missing 'transport.command'"],
    [{ name: 'up', transport: { ...stdio, env: { A: '1' } } }, "transport takes no 'env'"],
    [{ name: 'up', transport: { ...stdio, envPassthrough: ['SALLYPORT_HOME'] } }, "transport takes no 'envPassthrough'"],
    [{ name: 'up', transport: { ...stdio, pool: {} } }, "transport takes no 'pool'"],
    [{ name: 'up', transport: { ...stdio, cwd: '/' } }, "transport takes no 'cwd'"],
    [{ name: 'up', transport: { ...http, headers: { Authorization: 'x' } } }, "transport takes no 'headers'"],
    [{ name: 'up', transport: { ...http, Url: 'x' } }, "Did you mean 'url'?"],
    [{ name: 'up', transport: { ...stdio, args: 'a' } }, "'transport.args'"],
    [{ name: 'up', transport: { ...stdio, args: ['a\nb'] } }, "'transport.args'"],
    [{ name: 'up', transport: { ...stdio, args: ['\u202Etxt'] } }, "'transport.args'"],
    [{ name: 'up', transport: { ...stdio, args: Array.from({ length: 65 }, () => 'a') } }, "'transport.args'"],
    [{ name: 'up', transport: { ...stdio, command: 'a\0b' } }, "'transport.command'"],
    [{ name: 'up', transport: http, auth: 'none' }, "Invalid 'auth'"],
    [{ name: 'up', transport: http, auth: {} }, "Invalid or missing 'auth.type'"],
    [{ name: 'up', transport: http, auth: { type: 'jwt', secretRef: 'a' } }, "Invalid or missing 'auth.type'"],
    [{ name: 'up', transport: http, auth: { type: 'bearer' } }, 'auth.secretRef is required'],
    [{ name: 'up', transport: http, auth: { type: 'bearer', secretRef: 7 } }, 'must be the NAME'],
    [{ name: 'up', transport: http, auth: { type: 'bearer', secretRef: 'a', token: 'b' } }, "auth takes no 'token'"],
    [
      { name: 'up', transport: http, auth: { type: 'oauth2', secretRef: 'a', issuer: 'https://evil.example' } },
      "auth takes no 'issuer'",
    ],
    [{ name: 'up', transport: http, auth: { type: 'env', env: { A: 'a' } } }, 'use bearer'],
    [{ name: 'up', transport: stdio, auth: { type: 'env', env: {} } }, 'auth.env is required'],
    [{ name: 'up', transport: stdio, auth: { type: 'env', env: { 'A B': 'a' } } }, 'no name of an environment variable'],
    [{ name: 'up', transport: stdio, auth: { type: 'env', env: { LD_PRELOAD: 'a' } } }, 'steers how programs run'],
    [{ name: 'up', transport: stdio, auth: { type: 'env', env: { NODE_OPTIONS: 'a' } } }, 'steers how programs run'],
    [{ name: 'up', transport: stdio, auth: { type: 'env', env: { SALLYPORT_HOME: 'a' } } }, 'steers how programs run'],
  ] as const)('[REG-1] %j is refused in words', (raw, words) => {
    expect(refusal(raw)).toMatch(/^invalid registration\.bad_proposal: /);
    expect(refusal(raw)).toContain(words);
  });

  const token = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
  test.each([
    ['secretRef', { name: 'up', transport: http, auth: { type: 'bearer', secretRef: token } }],
    ['a long secretRef', { name: 'up', transport: http, auth: { type: 'bearer', secretRef: 'a'.repeat(41) } }],
    ['a run of base64', { name: 'up', transport: http, auth: { type: 'oauth2', secretRef: 'a'.repeat(32) } }],
    ['an env value', { name: 'up', transport: stdio, auth: { type: 'env', env: { A: token } } }],
    ['a header', { name: 'up', transport: http, auth: { type: 'bearer', secretRef: 'a', header: token } }],
    ['a scheme', { name: 'up', transport: http, auth: { type: 'bearer', secretRef: 'a', scheme: `Bearer ${token}` } }],
    ['an argument', { name: 'up', transport: { ...stdio, args: [token] } }],
    ['a part of an argument', { name: 'up', transport: { ...stdio, args: [`--url=https://x:${token}@y`] } }],
    ['an argument by its name', { name: 'up', transport: { ...stdio, args: ['--api-key', 'hunter2'] } }],
    ['an assignment', { name: 'up', transport: { ...stdio, args: ['-e', 'GITHUB_TOKEN=hunter2'] } }],
    ['a header in an argument', { name: 'up', transport: { ...stdio, args: ['Authorization: Basic aHVudGVyMg'] } }],
    ['a command', { name: 'up', transport: { ...stdio, command: token } }],
  ])('[REG-2] %s that looks like a secret is refused and not repeated', (_, raw) => {
    const words = refusal(raw);
    expect(words).toMatch(/looks like a raw secret/);
    for (const secret of [token, 'hunter2', 'aHVudGVyMg', 'a'.repeat(32)]) expect(words).not.toContain(secret);
  });

  test.each([
    [['-y', '@modelcontextprotocol/server-filesystem@2026.8.31', '/home/someone/projects/a-rather-long-name-of-a-folder']],
    [['run', '-i', '--rm', '-e', 'GITHUB_TOKEN', `ghcr.io/github/github-mcp-server@sha256:${'a'.repeat(64)}`]],
    [['--token-limit', '100', '--auth', 'none', '--token', '$TOKEN', '--token', '--verbose']],
  ])('[REG-2] %j hold none', (args) => {
    expect(refusal({ name: 'up', transport: { ...stdio, args } })).toBe('');
  });
});
