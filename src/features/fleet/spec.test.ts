import { describe, expect, test } from 'vitest';
import { createDigest } from '../../platform/crypto.ts';
import { listedAs, readDefinition } from './definition.ts';
import { definitionDiff } from './definition-diff.ts';
import { maskEnvironment } from './environment.ts';
import { readUpstreams, withoutUpstream, withReplaced, withUpstream } from './settings.ts';
import { parseSpec, specDigest } from './spec.ts';

const digest = createDigest();
const entry = { name: 'up', transport: { kind: 'stdio', command: 'npx', args: ['-y', 'server'] } };

function spec(more: object = {}) {
  const parsed = parseSpec({ ...entry, ...more }, 'upstreams[0]');
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.spec;
}

describe('a spec', () => {
  test('has defaults, and its digest covers what runs and what it reaches, not time-outs', () => {
    expect(spec()).toMatchObject({ enabled: true, startTimeoutMs: 30_000, callTimeoutMs: 120_000, env: {}, exposeTools: [] });
    const base = specDigest(spec(), digest);
    expect(specDigest(spec({ callTimeoutMs: 1_000, startTimeoutMs: 500, enabled: false }), digest)).toBe(base);
    const others = [
      { name: 'other' },
      { transport: { ...entry.transport, command: 'node' } },
      { transport: { ...entry.transport, args: ['-y server'] } },
      { transport: { ...entry.transport, cwd: '/tmp' } },
      { env: { A: '1' } },
      { envPassthrough: ['A'] },
      { exposeTools: ['a'] },
    ].map((more) => specDigest(spec(more), digest));
    expect(new Set([base, ...others]).size).toBe(8);
  });

  test.each([
    [{ ...entry, Name: 'x' }, "upstreams[0] has no key 'Name'; did you mean 'name'?"],
    [{ ...entry, transport: { kind: 'http', url: 'x' } }, 'transport.url is no absolute URL'],
    [{ ...entry, transport: { kind: 'ftp' } }, 'upstreams[0].transport.kind: must be stdio or http.'],
    [{ ...entry, transport: { kind: 'http', url: 'https://a', allowInsecure: true } }, "did you mean 'allow_insecure'?"],
    [{ ...entry, transport: { kind: 'http', url: 'https://a' }, env: { A: '1' } }, 'programs that are started here'],
    [{ ...entry, callTimeoutMs: '5' }, 'upstreams[0].callTimeoutMs'],
    [{ name: 'up' }, 'upstreams[0].transport'],
    ['text', 'upstreams[0]'],
  ])('%j is refused with its place', (raw, words) => {
    const parsed = parseSpec(raw, 'upstreams[0]');
    expect(parsed.ok ? '' : parsed.problem).toContain(words);
  });
});

describe('how an upstream is logged in to and where its name may lead', () => {
  const http = { name: 'up', transport: { kind: 'http', url: 'https://a.example' } };
  const bearer = { type: 'bearer', secretRef: 'a_token' };

  test('[REG-3] are part of what is signed, and as usual they leave the digest as it was', () => {
    const base = specDigest(spec(), digest);
    expect(specDigest(spec({ auth: { type: 'none' } }), digest)).toBe(base);
    const others = [
      { auth: bearer },
      { auth: { ...bearer, secretRef: 'another' } },
      { auth: { type: 'env', env: { A: 'a_token' } } },
      http,
      { ...http, auth: bearer },
      { ...http, transport: { ...http.transport, addresses: 'public' } },
    ].map((more) => specDigest(spec(more), digest));
    expect(new Set([base, ...others]).size).toBe(7);
  });

  test('[REG-3] are written to the file and read back as they were', () => {
    const one = spec({
      ...http,
      auth: { ...bearer, header: 'X-Key', scheme: '' },
      transport: { ...http.transport, addresses: 'public' },
    });
    expect(readUpstreams(withUpstream('', one))).toMatchObject([{ spec: one }]);
  });

  test.each([
    [{ ...http, auth: { type: 'env', env: { A: 'a' } } }, 'upstreams[0].auth: variables are for programs'],
    [{ ...entry, auth: { type: 'env', env: {} } }, 'upstreams[0].auth.env names no variable'],
    [{ ...entry, auth: { ...bearer, header: 'X-Key' } }, 'upstreams[0].auth.header is for upstreams over HTTP'],
    [{ ...http, auth: { ...bearer, header: 'Host' } }, 'a header that the gateway writes itself'],
    [{ ...http, auth: { ...bearer, scheme: 'a\r\nb' } }, 'upstreams[0].auth.scheme must be one word'],
    [{ ...http, auth: { type: 'bearer', secretRef: 'Not A Name' } }, 'must be the name of a secret'],
    [{ ...http, transport: { ...http.transport, addresses: 'home' } }, 'must be one of any, local, public'],
    [{ ...http, transport: { kind: 'http', url: 'https://10.0.0.1', addresses: 'public' } }, "'addresses: public' rules out"],
    [{ ...http, transport: { kind: 'http', url: 'https://[fd00:ec2::254]', addresses: 'local' } }, "'addresses: local' rules out"],
  ])('%j is refused in words', (raw, words) => {
    const parsed = parseSpec(raw, 'upstreams[0]');
    expect(parsed.ok ? '' : parsed.problem).toContain(words);
  });
});

describe('the settings file', () => {
  test('[REG-7] has a replaced entry in its old place, every comment kept', () => {
    const before =
      '# top\nupstreams:\n  # about up\n  - name: up\n    transport: { kind: stdio, command: a }\n  # about two\n  - name: two # why\n    transport: { kind: stdio, command: b }\n';
    const after = withReplaced(before, spec());
    expect(readUpstreams(after)).toMatchObject([{ spec: { name: 'up', transport: { command: 'npx' } } }, { name: 'two' }]);
    for (const comment of ['# top', '# about up', '# about two', '# why']) expect(after).toContain(comment);
    expect(readUpstreams(withReplaced(before, spec({ name: 'three' }))).map(({ name }) => name)).toEqual(['up', 'two', 'three']);
  });

  const text = '# top\nport: 1 # why\nupstreams:\n  # first\n  - name: one # it\n    transport: { kind: stdio, command: a }\n';

  test('gains and loses an entry and keeps every comment', () => {
    const more = withUpstream(text, spec());
    expect(readUpstreams(more).map(({ name }) => name)).toEqual(['one', 'up']);
    for (const comment of ['# top', '# why', '# first', '# it']) expect(more).toContain(comment);
    expect(withoutUpstream(more, 'up')).toBe(withoutUpstream(withUpstream(text, spec()), 'up'));
    expect(readUpstreams(withoutUpstream(more, 'one')).map(({ name }) => name)).toEqual(['up']);
    expect(withoutUpstream(text, 'nobody')).toBe(text);
    expect(readUpstreams(withUpstream('', spec({ env: { A: '1' } })))).toMatchObject([{ spec: { env: { A: '1' } } }]);
  });

  test('keeps a bad entry to itself and the second of a name out', () => {
    const entries = readUpstreams(`${text}  - {name: two}\n  - {name: one, transport: {kind: stdio, command: b}}\n  - 7\n`);
    expect(entries.map((one) => [one.name, 'spec' in one])).toEqual([
      ['one', true],
      ['two', false],
      ['one (again)', false],
      ['upstreams[3]', false],
    ]);
  });

  test.each(['upstreams: [', 'upstreams: 7', '- a', 'a: 1\na: 2'])('%j is refused as a whole', (bad) => {
    expect(() => readUpstreams(bad)).toThrow(expect.objectContaining({ code: 'fleet.bad_settings' }) as Error);
  });

  test.each(['', 'port: 1', 'upstreams:', '# nothing'])('%j has no upstreams', (empty) => {
    expect(readUpstreams(empty)).toEqual([]);
  });
});

describe('[FLEET-7] the hash of a definition', () => {
  const text =
    '{"name":"t","title":"T","description":"d","inputSchema":{"type":"object","properties":{"a":{"type":"string"}}},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"icons":[],"_meta":{"v":1}}';
  const hashOf = (json: string): string | undefined => readDefinition(json, digest)?.hash;

  test.each([
    ['name', '"name":"t"', '"name":"u"'],
    ['title', '"title":"T"', '"title":"U"'],
    ['description', '"description":"d"', '"description":"e"'],
    ['inputSchema', '"a":{', '"b":{'],
    ['outputSchema', ',"outputSchema":{"type":"object"}', ''],
    ['annotations', 'true', 'false'],
    ['icons', '"icons":[]', '"icons":[{"src":"x"}]'],
    ['_meta', '"v":1', '"v":2'],
    ['an unknown field', '"_meta"', '"x":1,"_meta"'],
  ])('covers %s', (_what, from, to) => {
    expect(text).toContain(from);
    expect(hashOf(text.replace(from, to))).not.toBe(hashOf(text));
  });

  test('does not depend on spacing or the order of keys', () => {
    const { name, ...rest } = JSON.parse(text) as Record<string, unknown>;
    expect(hashOf(JSON.stringify({ ...rest, name }, undefined, 2))).toBe(hashOf(text));
  });

  test('the listed text differs in the name alone, wherever that stands', () => {
    const odd = String.raw`{ "inputSchema" : {"type":"object","name":1.0}, "n\u0061me" : "t" }`;
    const definition = readDefinition(odd, digest);
    if (definition === undefined) throw new Error('no definition');
    expect(definition.unusable).toBeUndefined();
    expect(listedAs(definition.text, 'up__t')).toBe(odd.replace('"t"', '"up__t"'));
  });

  test('differences are told place by place', () => {
    expect(definitionDiff(text, text.replace('"d"', '"e"').replace('{"a"', '{"b":{},"a"'))).toEqual([
      { at: 'description', accepted: '"d"', offered: '"e"' },
      { at: 'inputSchema.properties.b', offered: '{}' },
    ]);
    expect(definitionDiff(text, text)).toEqual([]);
  });
});

test('values given to an upstream are masked in what it writes, longer ones first', () => {
  const given = { env: { URL: 'db://hidden', SHORT: 'ab' }, envPassthrough: ['MY_TOKEN'] };
  const masked = maskEnvironment('tok-123456-more tok-123456 db://hidden ab', given, { MY_TOKEN: 'tok-123456' });
  expect(masked).toBe('[MY_TOKEN]-more [MY_TOKEN] [URL] ab');
});
