import { describe, expect, test } from 'vitest';
import { createDigest } from '../../platform/crypto.ts';
import { parseSpec, specDigest } from './spec.ts';

const digest = createDigest();
const parse = (transport: object) => parseSpec({ name: 'up', transport: { kind: 'http', ...transport } }, 'upstreams[0]');

function problemOf(transport: object): string {
  const parsed = parse(transport);
  return parsed.ok ? '' : parsed.problem;
}

function digestOf(transport: object): string {
  const parsed = parse(transport);
  if (!parsed.ok) throw new Error(parsed.problem);
  return specDigest(parsed.spec, digest);
}

describe('[HTTPUP-19] the URL of an upstream', () => {
  test.each([
    'https://example.org/mcp',
    'https://example.org:8443/a/b?team=blue',
    'http://127.0.0.1:3001/mcp',
    'http://127.9.9.9/mcp',
    'http://localhost:3001/mcp',
    'http://[::1]:3001/mcp',
  ])('%s is taken', (url) => {
    expect(problemOf({ url })).toBe('');
  });

  test.each([
    ['', 'transport.url'],
    ['/mcp', 'no absolute URL'],
    ['ftp://example.org', 'must begin with https:// or http://'],
    ['file:///etc/passwd', 'must begin with https:// or http://'],
    ['https://user@example.org', 'user name or password'],
    ['https://user:pw@example.org', 'user name or password'],
    ['https://example.org/mcp#top', "part after '#'"],
    ['https://example.org/mcp?api_key=1', "parameter 'api_key' that looks like a secret"],
    ['https://example.org/mcp?q=ghp_0123456789', 'looks like a secret'],
    ['https://example.org/mcp?q=0123456789abcdef0123456789abcdef', 'looks like a secret'],
    ['http://example.org/mcp', 'allow_insecure: true'],
    ['http://10.0.0.1/mcp', 'allow_insecure: true'],
    ['http://127.0.0.1.example.org/mcp', 'allow_insecure: true'],
    ['http://localhost.example.org/mcp', 'allow_insecure: true'],
    ['http://[::ffff:10.0.0.1]/mcp', 'allow_insecure: true'],
  ])('%s is refused in words', (url, words) => {
    expect(problemOf({ url })).toContain(words);
  });

  test('plain http to another machine is taken when the signed entry says so, and that is part of what is signed', () => {
    expect(problemOf({ url: 'http://example.org/mcp', allow_insecure: true })).toBe('');
    expect(digestOf({ url: 'https://example.org/mcp', allow_insecure: true })).not.toBe(
      digestOf({ url: 'https://example.org/mcp' }),
    );
  });

  test('is what is signed, written as the URL standard writes it', () => {
    const base = digestOf({ url: 'https://example.org/mcp' });
    expect(digestOf({ url: 'HTTPS://EXAMPLE.org:443/mcp' })).toBe(base);
    const others = [
      'https://example.org/mcp/',
      'https://example.org/MCP',
      'https://example.org:444/mcp',
      'https://example.com/mcp',
    ];
    expect(new Set([base, ...others.map((url) => digestOf({ url }))]).size).toBe(5);
    expect(digestOf({ url: 'https://example.org/mcp', headers: { 'x-team': 'blue' } })).not.toBe(base);
  });
});

describe('[HTTPUP-19] a fixed header', () => {
  const url = 'https://example.org/mcp';

  test('is plain text under a name of its own', () => {
    const parsed = parse({ url, headers: { 'X-Team': 'blue team' } });
    expect(parsed.ok && parsed.spec.transport).toMatchObject({ headers: { 'x-team': 'blue team' } });
  });

  test.each([
    [{ Authorization: 'Bearer x' }, 'sallyport secret add REF'],
    [{ Cookie: 'a=b' }, 'looks like a secret'],
    [{ 'X-Api-Key': '1' }, 'looks like a secret'],
    [{ 'x-team': 'sk-live-1' }, 'looks like a secret'],
    [{ 'x-team': 'a'.repeat(40) }, 'looks like a secret'],
    [{ 'Mcp-Session-Id': 'x' }, 'looks like a secret|writes itself'],
    [{ 'Mcp-Name': 'x' }, 'writes itself'],
    [{ Host: 'x' }, 'writes itself'],
    [{ 'Content-Length': '1' }, 'writes itself'],
    [{ 'Transfer-Encoding': 'chunked' }, 'writes itself'],
    [{ 'x y': '1' }, 'no name of a header'],
    [{ 'x-a': 'b\r\nx-c: d' }, 'visible ASCII'],
    [{ 'x-a': 'caf\u00e9' }, 'visible ASCII'],
    [{ 'X-A': '1', 'x-a': '2' }, 'is there twice'],
  ])('%j is refused', (headers, words) => {
    expect(problemOf({ url, headers })).toMatch(new RegExp(words));
  });
});
