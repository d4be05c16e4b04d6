// Which URLs of strangers are followed, and where metadata is looked for.
import { describe, expect, test } from 'vitest';
import { ledTo, resourceCovers, resourceMetadataUrls, serverMetadataUrls } from './places.ts';

describe('where an upstream may lead to', () => {
  test.for([
    ['https://mcp.test/mcp', 'https://auth.test/'],
    ['http://127.0.0.1:4000/mcp', 'http://localhost:4001'],
    ['http://localhost:4000/mcp', 'https://auth.test'],
    ['https://10.0.0.5/mcp', 'https://10.0.0.6/'],
  ] as const)('[OAUTH-11] from %s to %s', ([from, to]) => {
    expect(ledTo(from, to)).toBe(to);
  });

  test.for([
    'http://auth.test',
    'ftp://auth.test',
    'http://127.0.0.1:6379',
    'https://127.0.0.1/',
    'https://localhost/',
    'https://10.1.2.3/',
    'https://172.16.0.1/',
    'https://192.168.1.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/',
    'https://[fd00::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://printer.local/',
    'https://user@auth.test/',
    'https://auth.test/#x',
    'not a url',
    '',
  ])('[OAUTH-11] from the outside never to %s', (to) => {
    expect(() => ledTo('https://mcp.test/mcp', to)).toThrow(expect.objectContaining({ code: 'auth.url_refused' }));
  });
});

test('[OAUTH-11] metadata is looked for with the path inserted first', () => {
  expect(resourceMetadataUrls('https://mcp.test/a/b/?q=1')).toEqual([
    'https://mcp.test/.well-known/oauth-protected-resource/a/b?q=1',
    'https://mcp.test/.well-known/oauth-protected-resource',
  ]);
  expect(resourceMetadataUrls('https://mcp.test')).toEqual(['https://mcp.test/.well-known/oauth-protected-resource']);
  expect(serverMetadataUrls('https://auth.test/t1')).toEqual([
    'https://auth.test/.well-known/oauth-authorization-server/t1',
    'https://auth.test/.well-known/openid-configuration/t1',
    'https://auth.test/t1/.well-known/openid-configuration',
  ]);
});

test.for([
  ['https://mcp.test/mcp', 'https://mcp.test/mcp', true],
  ['https://mcp.test', 'https://mcp.test/mcp', true],
  ['https://mcp.test/mcp/', 'https://mcp.test/mcp', true],
  ['https://mcp.test/mc', 'https://mcp.test/mcp', false],
  ['https://mcp.test/mcp/deeper', 'https://mcp.test/mcp', false],
  ['https://mcp.test:8443/mcp', 'https://mcp.test/mcp', false],
  ['http://mcp.test/mcp', 'https://mcp.test/mcp', false],
  ['https://evil.test/mcp', 'https://mcp.test/mcp', false],
  ['https://mcp.test/mcp?tenant=2', 'https://mcp.test/mcp?tenant=1', false],
  ['https://me@mcp.test/mcp', 'https://mcp.test/mcp', false],
] as const)('[OAUTH-12] the resource %s covers %s: %s', ([resource, url, covers]) => {
  expect(resourceCovers(resource, url)).toBe(covers);
});
