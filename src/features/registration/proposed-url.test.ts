// URLs as agents propose them.
import { describe, expect, test } from 'vitest';
import { judgeUrl } from './proposed-url.ts';

const problem = (url: string, hosts: readonly string[] = []): string => {
  const judged = judgeUrl(url, hosts);
  return judged.ok ? '' : judged.problem;
};
const notes = (url: string): string => {
  const judged = judgeUrl(url, []);
  return judged.ok ? judged.notes.join('\n') : `refused: ${judged.problem}`;
};

describe('a proposed URL', () => {
  test.each([
    ['https://169.254.169.254/latest/meta-data', 'given their credentials'],
    ['https://[fd00:ec2::254]/', 'given their credentials'],
    ['https://[::ffff:169.254.169.254]/', 'unusual form'],
    ['https://[::ffff:a9fe:a9fe]/', 'given their credentials'],
    ['https://metadata.google.internal/computeMetadata/v1/', 'given their credentials'],
    ['https://METADATA.google.internal/', 'given their credentials'],
    ['https://instance-data/latest', 'given their credentials'],
    ['https://100.100.100.200/', 'given their credentials'],
    ['https://[fe80::1]/', 'given their credentials'],
    ['https://0.0.0.0/', 'no address of a server'],
    ['https://224.0.0.1/', 'no address of a server'],
    ['https://[::]/', 'no address of a server'],
    ['https://2130706433/', 'write it as 127.0.0.1'],
    ['https://0x7f.1/', 'write it as 127.0.0.1'],
    ['https://0177.0.0.1/', 'write it as 127.0.0.1'],
    ['https://127.1/', 'write it as 127.0.0.1'],
    ['https://①②⑦.0.0.1/', 'write it as 127.0.0.1'],
    ['https://2852039166/', 'write it as 169.254.169.254'],
    ['https://[0:0:0:0:0:0:0:1]/', 'write it as [::1]'],
    ['https://example.org./mcp', 'ends in a dot'],
    ['https://ex%61mple.org/', 'percent-encoding'],
    ['https://user@example.org/', 'user name or password'],
    ['https://example.org:443@evil.example/', 'user name or password'],
    ['https://@example.org/', 'user name or password'],
    ['https://example.org\\@evil.example/', 'backslash'],
    ['https://example.org/a b', 'a space'],
    ['https://exam\u200Bple.org/', 'nobody can see'],
    ['https://exam\u202Eple.org/', 'nobody can see'],
    ['https://example.org/\tmcp', 'a space'],
    ['https://example.org/#part', "after '#'"],
    ['http://example.org/mcp', 'plain http'],
    ['ftp://example.org/', 'must begin with https://'],
    ['file:///etc/passwd', 'must begin with https://'],
    ['data:text/plain,x', 'must begin with https://'],
    ['example.org/mcp', 'no absolute URL'],
    ['https://', 'no absolute URL'],
    ['https://example.org/ghp_abcdefghijklmnop', 'raw secret'],
    ['https://example.org/?key=sk-abcdefgh', 'raw secret'],
    ['https://example.org/?sk-abcdefgh', 'raw secret'],
    ['https://example.org/mcp/0123456789abcdef0123456789abcdef', 'raw secret'],
    ['https://0123456789abcdef0123456789abcdef.example.org/', 'raw secret'],
    ['https://example.org/%67hp_abcdefghijklmnop', 'raw secret'],
  ])('[SSRF-2] %s is refused', (url, words) => {
    expect(problem(url)).toContain(words);
  });

  test.each([
    ['https://10.0.0.5/mcp', 'private network'],
    ['https://[fd12::1]/mcp', 'private network'],
    ['https://grafana/mcp', 'private network'],
    ['https://grafana.lan/mcp', 'private network'],
    ['https://db.internal/mcp', 'private network'],
    ['https://127.0.0.1:8443/mcp', 'this machine'],
    ['http://localhost:3000/mcp', 'not encrypted'],
    ['http://app.localhost/mcp', 'this machine'],
    ['https://example.org:22/mcp', 'port 22 is an unusual one'],
    ['https://bücher.example/mcp', 'written bücher.example, connected as xn--bcher-kva.example'],
    ['https://xn--bcher-kva.example/mcp', 'may look like others'],
    ['https://example.org/mcp', 'looked up at each connection'],
  ])('[SSRF-2] %s is for a person, who reads what is particular about it', (url, words) => {
    expect(notes(url)).toContain(words);
  });

  test('[SSRF-2] what is public may lead to public addresses only, what was shown as private to those as well', () => {
    expect(judgeUrl('https://example.org/mcp', [])).toMatchObject({ addresses: 'public', allowInsecure: false });
    expect(judgeUrl('https://10.0.0.5/mcp', [])).toMatchObject({ addresses: 'local' });
    expect(judgeUrl('https://wiki.lan/mcp', [])).toMatchObject({ addresses: 'local' });
  });

  test('[SSRF-2] plain http is for this machine and for hosts the operator named', () => {
    expect(judgeUrl('http://127.0.0.1:1/mcp', [])).toMatchObject({ ok: true, allowInsecure: false });
    expect(judgeUrl('http://wiki.lan/mcp', ['wiki.lan'])).toMatchObject({ ok: true, allowInsecure: true, addresses: 'local' });
    expect(problem('http://wiki.lan.evil.example/', ['wiki.lan'])).toContain('plain http');
    expect(problem('http://169.254.169.254/', ['169.254.169.254'])).toContain('credentials');
  });
});
