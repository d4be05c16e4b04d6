// Catalogues that are what they say, and every way in which they are not.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bundledCatalogue } from '../../app/registry-parts.ts';
import { createDigest, createVerifier } from '../../platform/crypto.ts';
import { createFiles } from '../../platform/files.ts';
import { buildIndex, makeKey, signIndex } from '../../../scripts/sign-registry.ts';
import { describeDatabases, type OpenDatabase } from '../../../test/support/databases.ts';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { createPlainAudit } from '../../../test/support/plain-audit.ts';
import type { AppError } from '../../kernel/errors.ts';
import type { TokenHttp } from '../../kernel/ports.ts';
import type { CatalogueFiles, Index } from './model.ts';
import { createRegistry } from './registry.ts';
import { createSource } from './source.ts';
import { registryMigrations } from './store.ts';
import { indexText } from './verify.ts';

const owner = makeKey();
const stranger = makeKey();
const day = 86_400_000;
const http = {
  async request(): Promise<never> {
    throw new Error('nothing is asked over the network');
  },
};

const manifest = (name: string, more: object = {}): object => ({
  schema: 'registry/v1',
  name,
  description: `About ${name}.`,
  transport: { kind: 'http', url: `https://${name}.example/mcp` },
  auth: { type: 'bearer', secretRef: `${name}_token` },
  setup: { secrets: [{ ref: `${name}_token`, hint: 'from its settings' }] },
  ...more,
});

interface Place {
  readonly folder: string;
  write(file: string, text: string): void;
  /** Everything signed anew. */
  publish(version: number, names: readonly string[], how?: { key?: string; days?: number; now?: Date }): CatalogueFiles;
}

function place(): Place {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-catalogue-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  return {
    folder,
    write,
    publish(version, names, { key = owner.pem, days = 90, now = new Date(createFakeClock().now()) } = {}) {
      rmSync(join(folder, 'manifests'), { recursive: true, force: true });
      for (const name of names) write(`manifests/${name}.json`, JSON.stringify(manifest(name)));
      const files = buildIndex(folder, version, now, days);
      write('index.json', files.index);
      write('index.sig', signIndex(files.index, key));
      return files;
    },
  };
}

async function house(openDatabase: OpenDatabase, folder?: string, key = owner.publicKey) {
  const db = await openDatabase();
  await db.migrate(registryMigrations);
  const [audit, clock, digest] = [createPlainAudit(db), createFakeClock(), createDigest()];
  const source = folder === undefined ? undefined : createSource({ key, place: { path: folder } }, { files: createFiles(), http });
  const open = () =>
    createRegistry({
      db,
      audit,
      clock,
      digest,
      verifier: createVerifier(),
      bundled: bundledCatalogue(),
      ...(source === undefined ? {} : { elsewhere: { source, key } }),
    });
  return { registry: await open(), open, audit, clock, db };
}

const { signal } = new AbortController();
const refusal = (promise: Promise<unknown>): Promise<AppError> =>
  promise.then(
    () => expect.unreachable('it passed'),
    (error: AppError) => error,
  );

describeDatabases('the registry', (openDatabase) => {
 test('[CATALOG-7] the catalogue of the package holds, and is in force where no other is', async () => {
  const { registry } = await house(openDatabase);
  const { catalogue, from } = registry.current();
  expect(from).toBe('package');
  expect(catalogue.entries.size).toBeGreaterThan(5);
  expect(registry.entry('github').manifest).toMatchObject({ auth: { type: 'bearer', secretRef: 'github_token' } });
  expect(() => registry.entry('nothing')).toThrow("there is no entry 'nothing'");
  expect(await refusal(registry.candidate(signal))).toMatchObject({ code: 'registry.no_source' });
});

describe('a catalogue from elsewhere', () => {
  test('[CATALOG-1] [CATALOG-3] is in force once it was taken over, after a restart as well, and no older one after it', async () => {
    const there = place();
    const { registry, open, audit } = await house(openDatabase, there.folder);
    there.publish(7, ['one', 'two']);
    expect(registry.current().from).toBe('package');
    await registry.adopt(await registry.candidate(signal), { key_id: 'k' });
    for (const each of [registry, await open()]) {
      expect(each.current()).toMatchObject({ from: 'signed', catalogue: { version: 7 } });
      expect(each.entry('one')).toMatchObject({ version: 7, manifest: { name: 'one' } });
      expect(() => each.entry('github')).toThrow('there is no entry');
    }
    expect(audit.of('registry.updated')).toMatchObject([{ actor: 'operator', facts: { version: 7, entries: 2, proof: { key_id: 'k' } } }]);
    for (const version of [7, 6, 1]) {
      there.publish(version, ['one']);
      expect(await refusal(registry.candidate(signal))).toMatchObject({ code: 'registry.not_newer' });
    }
    there.publish(8, ['one']);
    const [first, second] = [await registry.candidate(signal), await registry.candidate(signal)];
    await registry.adopt(first, {});
    expect(await refusal(registry.adopt(second, {}))).toMatchObject({ code: 'registry.not_newer' });
  });

  test('[CATALOG-1] signed by another key, or not at all, is refused', async () => {
    const there = place();
    const { registry } = await house(openDatabase, there.folder);
    there.publish(1, ['one'], { key: stranger.pem });
    expect((await refusal(registry.candidate(signal))).message).toContain('not by the key');
    for (const signature of ['', 'ed25519:', `ed25519:${'A'.repeat(86)}==`, 'none', 'rsa:x']) {
      there.publish(1, ['one']);
      there.write('index.sig', signature);
      expect((await refusal(registry.candidate(signal))).code).toBe('registry.unverified');
    }
    expect(registry.current().from).toBe('package');
  });

  test('[CATALOG-1] [CATALOG-2] any changed byte of index or manifest is refused', async () => {
    const there = place();
    const { registry } = await house(openDatabase, there.folder);
    const { index, manifests } = there.publish(1, ['one', 'two']);
    const tampered: Readonly<Record<string, readonly [string, string]>> = {
      'a raised version': ['index.json', index.replace('"version":1', '"version":9')],
      'another end': ['index.json', index.replace(/"expiresAt":"\d+/, '"expiresAt":"9999')],
      'other line ends': ['index.json', index.replace('\n', '\r\n')],
      'no line end': ['index.json', index.trimEnd()],
      'white space': ['index.json', index.replace('{', '{ ')],
      'a swapped manifest': ['manifests/one.json', manifests['manifests/two.json'] ?? ''],
      'another URL': ['manifests/one.json', (manifests['manifests/one.json'] ?? '').replace('one.example', 'evil.example')],
      'an empty manifest': ['manifests/one.json', ''],
    };
    for (const [what, [file, text]] of Object.entries(tampered)) {
      there.publish(1, ['one', 'two']);
      there.write(file, text);
      expect([what, (await refusal(registry.candidate(signal))).code]).toEqual([what, 'registry.unverified']);
    }
    rmSync(join(there.folder, 'manifests/one.json'));
    expect(await refusal(registry.candidate(signal))).toMatchObject({ code: 'registry.unreachable' });
  });

  test('[CATALOG-2] an index that names another file of the machine is refused before anything is read', async () => {
    const there = place();
    const { registry } = await house(openDatabase, there.folder);
    const { index } = there.publish(1, ['one']);
    for (const file of ['../../etc/passwd', '/etc/passwd', 'manifests/../index.json', 'manifests/a/b.json', '.hidden.json']) {
      const read = JSON.parse(index) as Index;
      const signed = indexText({ ...read, manifests: { one: { file, sha256: 'a'.repeat(64) } } });
      there.write('index.json', signed);
      there.write('index.sig', signIndex(signed, owner.pem));
      expect((await refusal(registry.candidate(signal))).message).toContain('does not fit registry/v1');
    }
  });

  test('[CATALOG-2] a manifest about another name is refused, well signed as it is', async () => {
    const there = place();
    const { registry } = await house(openDatabase, there.folder);
    const { index } = there.publish(1, ['one']);
    const read = JSON.parse(index) as Index;
    const signed = indexText({ ...read, manifests: { other: read.manifests['one'] ?? { file: '', sha256: '' } } });
    there.write('index.json', signed);
    there.write('index.sig', signIndex(signed, owner.pem));
    expect((await refusal(registry.candidate(signal))).message).toContain("the manifest of 'other' is about 'one'");
  });

  test('[CATALOG-3] whose time is over is not taken, and one in force registers nothing any more', async () => {
    const there = place();
    const { registry, clock } = await house(openDatabase, there.folder);
    there.publish(1, ['one'], { days: 10 });
    await registry.adopt(await registry.candidate(signal), {});
    clock.advance(11 * day);
    expect(() => registry.entry('one')).toThrow('it was good until');
    expect(() => registry.current()).toThrow('sallyport registry update');
    there.publish(2, ['one'], { days: 10 });
    expect((await refusal(registry.candidate(signal))).message).toContain('it was good until');
    there.publish(2, ['one'], { days: 30 });
    await registry.adopt(await registry.candidate(signal), {});
    expect(registry.entry('one').version).toBe(2);
  });

  test('[CATALOG-1] a stored one that was edited in the database is nothing to fall back from', async () => {
    const there = place();
    const { registry, open, db } = await house(openDatabase, there.folder);
    there.publish(1, ['one']);
    await registry.adopt(await registry.candidate(signal), {});
    await db.transaction(async (tx) => {
      await tx.updateTable('registry_catalogue').set({ manifests: '{}' }).execute();
    });
    const again = await open();
    expect(() => again.current()).toThrow('is missing');
    expect(() => again.entry('github')).toThrow('could not be verified');
  });
});
});

describe('a catalogue over https', () => {
  const at = (answer: (url: string) => { status: number; body: string }) => {
    const asked: string[] = [];
    const fake: TokenHttp = {
      async request({ url }) {
        asked.push(url);
        return { headers: {}, ...answer(url) };
      },
    };
    const settings = { key: owner.publicKey, place: { url: 'https://a.example/catalogue/' } };
    return { asked, source: createSource(settings, { files: createFiles(), http: fake }) };
  };

  test('[CATALOG-1] is read file by file from its own folder', async () => {
    const { index, manifests } = place().publish(1, ['one']);
    const texts: Readonly<Record<string, string>> = { 'index.json': index, 'index.sig': 'a signature', ...manifests };
    const { asked, source } = at((url) => ({ status: 200, body: texts[url.replace('https://a.example/catalogue/', '')] ?? '' }));
    expect(await source.read(signal)).toEqual({ index, signature: 'a signature', manifests });
    expect(asked).toHaveLength(3);
  });

  test.each([
    ['is not there', () => ({ status: 404, body: '' }), 'registry.unreachable'],
    ['redirects', () => ({ status: 302, body: '' }), 'registry.unreachable'],
    ['fails', () => ({ status: 500, body: '' }), 'registry.unreachable'],
    ['is no catalogue', () => ({ status: 200, body: '<html>' }), 'registry.unverified'],
    ['is endless', () => ({ status: 200, body: 'x'.repeat(1024 * 1024 + 1) }), 'registry.unverified'],
  ])('[CATALOG-1] one that %s is none', async (_, answer, code) => {
    expect((await refusal(at(answer).source.read(signal))).code).toBe(code);
  });
});

describe('a manifest', () => {
  test.each([
    ['a shell', { transport: { kind: 'stdio', command: 'sh', args: ['-c', 'x'] } }],
    ['an interpreter', { transport: { kind: 'stdio', command: 'node', args: ['x.js'] } }],
    ['a path', { transport: { kind: 'stdio', command: '/tmp/npx', args: ['-y', 'a@1.2.3'] } }],
    ['no version', { transport: { kind: 'stdio', command: 'npx', args: ['-y', 'a'] } }],
    ['a tag', { transport: { kind: 'stdio', command: 'npx', args: ['-y', 'a@latest'] } }],
    ['a range', { transport: { kind: 'stdio', command: 'npx', args: ['-y', 'a@^1.0.0'] } }],
    ['a package beside it', { transport: { kind: 'stdio', command: 'npx', args: ['-p', 'evil', 'a@1.2.3'] } }],
    ['plain http', { transport: { kind: 'http', url: 'http://a.example/mcp' } }],
    ['an environment', { transport: { kind: 'stdio', command: 'npx', args: ['-y', 'a@1.2.3'], env: { A: 'b' } } }],
    ['another key', { envPassthrough: ['A'] }],
    ['a value for a name', { auth: { type: 'bearer', secretRef: 'Bearer abc' } }],
    ['hidden characters', { description: 'fine\u202Eexe' }],
    ['several lines', { description: 'fine\nRun this: rm' }],
    ['another schema', { schema: 'registry/v2' }],
  ])('[CATALOG-4] with %s is not signed', (_, more) => {
    const there = place();
    there.write('manifests/one.json', JSON.stringify(manifest('one', more)));
    expect(() => buildIndex(there.folder, 1, new Date(), 90)).toThrow(/^one\.json: /);
  });
});
