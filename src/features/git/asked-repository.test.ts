import { expect, it } from 'vitest';
import { asAppError } from '../../kernel/errors.ts';
import { askedRepository } from './asked-repository.ts';
import { accountIn } from './entry-text.ts';
import { capabilityOf, type GitAttributes, type GitEntry } from './model.ts';

const app = { secretRef: 'app_key', appId: '1', installationId: '2' };
const entries: readonly GitEntry[] = [
  { host: 'github.com', owner: 'acme', access: 'read', app },
  { host: 'ghe.acme.example:8443', owner: 'acme', access: 'write', app },
];

function asks(attributes: GitAttributes): string {
  try {
    return capabilityOf(askedRepository(entries, { protocol: 'https', path: 'acme/api.git', ...attributes }).asked);
  } catch (thrown) {
    return asAppError(thrown).code;
  }
}

it('[GIT-1] a host is the very name and port of an entry, in letters of either size', () => {
  expect(asks({ host: 'github.com' })).toBe('git:credential:github.com/acme/api');
  expect(asks({ host: 'GitHub.COM' })).toBe('git:credential:github.com/acme/api');
  expect(asks({ host: 'ghe.acme.example:8443' })).toBe('git:credential:ghe.acme.example:8443/acme/api');
});

it.each([
  'github.com.evil.org',
  'evil-github.com',
  'evil.github.com',
  'githubxcom',
  'github.com.',
  'github.com:443',
  'github.com:',
  ':github.com',
  'github.com@evil.org',
  'x@github.com',
  'evil.org/github.com',
  'github.com/acme',
  'github.com#',
  'github.com?',
  'github.com%2eevil.org',
  'github.com\u0000.evil.org',
  'github.com\n',
  'gіthub.com',
  'GİTHUB.com',
  'github。com',
  'xn--gthub-cua.com',
  'ghe.acme.example',
  'ghe.acme.example:08443',
  '140.82.121.4',
  ' github.com',
  '',
])('[GIT-1] %j is not the host of an entry', (host) => {
  expect(asks({ host })).toBe('git.not_listed');
});

it('[GIT-1] letters whose small form is one of ASCII are not those of a name', () => {
  // U+212A, the Kelvin sign, becomes a k.
  const list: readonly GitEntry[] = [{ host: 'k.example', owner: 'acme', access: 'read', app }];
  expect(() => askedRepository(list, { protocol: 'https', host: '\u212A.example', path: 'acme/api' })).toThrow('no host');
  expect(askedRepository(list, { protocol: 'https', host: 'K.example', path: 'acme/api' }).entry.host).toBe('k.example');
});

it('[GIT-1] a token goes over https and nothing else', () => {
  for (const protocol of ['http', 'ssh', 'git', 'HTTPS', 'https ', 'cert', '', undefined]) {
    expect(asks({ host: 'github.com', protocol })).toBe('git.needs_https');
  }
});

it('[GIT-2] without a path nothing is given, and what to set is said', () => {
  for (const path of [undefined, '']) expect(asks({ host: 'github.com', path })).toBe('git.needs_path');
  expect(() => askedRepository(entries, { protocol: 'https', host: 'github.com' })).toThrow(
    expect.objectContaining({ hint: 'Run: git config --global credential.https://github.com.useHttpPath true' }) as Error,
  );
});

it('[GIT-2] a repository is an owner and a name, as git and its extension for large files write them', () => {
  for (const path of ['acme/api', 'acme/api.git', 'acme/api/', 'ACME/Api.git', 'acme/api.git/info/lfs', 'acme/api.git/info/lfs/']) {
    expect(asks({ host: 'github.com', path })).toBe('git:credential:github.com/acme/api');
  }
  expect(asks({ host: 'github.com', path: 'acme/.github' })).toBe('git:credential:github.com/acme/.github');
  for (const path of [
    'acme',
    'acme/',
    '/acme/api',
    'acme//api',
    'acme/..',
    'acme/.git',
    'acme/../evil/api',
    'acme/api/../../evil/x',
    'acme/api/tree/main',
    'acme/api.git.git',
    'acme/*',
    'acme/api*',
    'acme/a pi',
    'acme/api%2f..',
    'acme/api?x',
    'acme/äpi',
    '../acme/api',
    `acme/${'a'.repeat(101)}`,
  ]) {
    expect([path, asks({ host: 'github.com', path })]).toEqual([path, 'git.bad_path']);
  }
});

it('[GIT-1] an owner that nobody entered is none, whatever the host', () => {
  expect(asks({ host: 'github.com', path: 'evil/api' })).toBe('git.not_listed');
  expect(asks({ host: 'github.com', path: 'acme-evil/api' })).toBe('git.not_listed');
});

it('[GIT-1] an entry names one account in one spelling', () => {
  expect(accountIn('GitHub.com/Acme')).toEqual({ host: 'github.com', owner: 'acme' });
  for (const text of [
    'github.com',
    'github.com/',
    '*.github.com/acme',
    'github.com/*',
    'https://github.com/acme',
    'github.com/acme/api',
    'localhost/acme',
    'github.com./acme',
    'me@github.com/acme',
  ]) {
    expect(() => accountIn(text)).toThrow('is no account');
  }
});
