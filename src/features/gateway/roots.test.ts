// Roots under the operator's limits: what an upstream is told, tried as somebody who wants it to be told more.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test, describe, beforeAll, afterAll } from 'vitest';
import * as fc from 'fast-check';
import { parse } from 'yaml';
import { askingUpstream } from '../../../test/support/asking-upstream.ts';
import { fakeHost } from '../../../test/support/fake-host.ts';
import { openGatewayHouse, type GatewayHouse } from '../../../test/support/gateway-house.ts';
import type { AppError } from '../../kernel/errors.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { limitRoots } from './roots.ts';

const limited = (allowed: readonly string[], ...roots: readonly Json[]): Json => limitRoots({ roots }, allowed)['roots'] ?? null;
const root = (uri: string, name?: string): JsonObject => ({ uri, ...(name === undefined ? {} : { name }) });

describe('of the roots of a client', () => {
  test('[ROOTS-2] one inside a configured place stays as it is, with everything that was said of it', () => {
    const inside = { uri: 'file:///srv/app/', name: 'App', _meta: { x: 1 } };
    expect(limited(['/srv'], inside, root('file:///srv'))).toEqual([inside, root('file:///srv')]);
  });

  test('[ROOTS-2] one around configured places becomes those, under its name', () => {
    const all = { ...root('file:///', 'All'), _meta: { wide: true } };
    expect(limited(['/srv/a b', 'file:///home/me'], all)).toEqual([
      root('file:///srv/a%20b', 'All'),
      root('file:///home/me', 'All'),
    ]);
  });

  test('[ROOTS-2] one outside is dropped, and so is what cannot be read', () => {
    const odd: Json[] = [null, 'file:///srv', { name: 'x' }, { uri: 1 }, root('https://srv/'), root('file:///srv/../etc')];
    expect(limited(['/srv'], root('file:///etc'), root('file:///srv2'), ...odd)).toEqual([]);
    expect(limitRoots({ roots: 'file:///srv', _meta: { kept: true } }, ['/srv'])).toEqual({ roots: [], _meta: { kept: true } });
  });

  test('[ROOTS-2] no place is told twice, and without configured places none is told', () => {
    expect(limited(['/srv'], root('file:///'), root('file:///', 'again'), root('file:///srv'))).toEqual([root('file:///srv')]);
    expect(limited([], root('file:///'), root('file:///srv'))).toEqual([]);
  });

  test('[ROOTS-2] whatever is tried, all that is told lies inside, as a file system reads it', () => {
    const part = fc.oneof(
      fc.constantFrom(
        'srv',
        'app',
        '..',
        '.',
        '%2e%2e',
        '%2E',
        '.%2e',
        '%252e%252e',
        '',
        '%2f',
        '..%2f',
        '..%5c',
        '\\..',
        '%00',
        'srv%20',
      ),
      fc.string({ maxLength: 6 }),
    );
    const head = fc.constantFrom(
      'file:///',
      'file://',
      'file://localhost/',
      'file:////',
      'file:/',
      'FILE:///',
      'file:///srv/app/',
      'http://',
    );
    const uri = fc.tuple(head, fc.array(part, { maxLength: 6 })).map(([start, parts]) => start + parts.join('/'));
    const isInside = (text: string): boolean => {
      const path = posix.resolve(fileURLToPath(text));
      return path === '/srv/app' || path.startsWith('/srv/app/') || path === '/home/me' || path.startsWith('/home/me/');
    };
    fc.assert(
      fc.property(fc.array(uri, { maxLength: 4 }), (uris) => {
        const told = limited(['/srv/app', 'file:///home/me'], ...uris.map((text) => root(text))) as { readonly uri: string }[];
        expect(told.filter(({ uri: text }) => !isInside(text))).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('an upstream', () => {
  const policies = `
version: 1
limits: { rate_limit: 1000/s }
agents:
  '*':
    capabilities:
      - { match: '*:call:*', effect: allow }
`;
  let house: GatewayHouse;
  beforeAll(async () => {
    house = await openGatewayHouse({ policies });
  });
  afterAll(() => house.close());

  const answers = (): JsonObject => ({ roots: [root('file:///', 'All'), root('file:///etc'), root('file:///srv/app', 'App')] });

  test('[ROOTS-1] [ROOTS-2] is told of the part that its entry names, and without roots there of nothing', async () => {
    const [open, shut] = [await askingUpstream(), await askingUpstream()];
    await house.decide('fleet.add', { name: 'open', url: open.url, roots: ['/srv'] });
    await house.decide('fleet.add', { name: 'shut', url: shut.url });
    const kimi = await house.agent();
    const host = fakeHost({ roots: { listChanged: true } }, answers);
    const asks = async (name: string) =>
      JSON.parse(await kimi.text(`${name}__ask`, { method: 'roots/list' }, { host })) as JsonObject;
    expect(await asks('open')).toEqual({ roots: [root('file:///srv', 'All'), root('file:///srv/app', 'App')] });
    expect(await asks('shut')).toMatchObject({ error: { code: -32601 } });
    expect(host.asked).toHaveLength(1);
    expect([open.told.at(-1), shut.told.at(-1)]).toEqual([{ roots: { listChanged: true } }, {}]);
  });

  test('[ROOTS-3] hears of a change on the connections of that session, where it is told of roots', async () => {
    const [first, second, shut] = [await askingUpstream(), await askingUpstream(), await askingUpstream()];
    await house.decide('fleet.add', { name: 'first', url: first.url, roots: ['/srv'] });
    await house.decide('fleet.add', { name: 'second', url: second.url, roots: ['/srv'] });
    await house.decide('fleet.add', { name: 'third', url: shut.url });
    const [kimi, other] = [await house.agent(), await house.agent()];
    const [mine, theirs] = [fakeHost({ roots: {} }), fakeHost({ roots: {} })];
    for (const name of ['first', 'third']) await kimi.call(`${name}__plain`, {}, { host: mine });
    await other.call('second__plain', {}, { host: theirs });
    house.dispatch.rootsChanged(kimi.caller);
    const changed = 'notifications/roots/list_changed';
    await expect.poll(() => first.heard.filter((method) => method === changed)).toEqual([changed]);
    // One more exchange with each, so that what was on its way has come.
    await other.call('second__plain', {}, { host: theirs });
    await kimi.call('third__plain', {}, { host: mine });
    expect([...second.heard, ...shut.heard]).not.toContain(changed);
  });

  test('[ROOTS-4] whose roots were widened in the file is told of none before an operator accepts that', async () => {
    const { url } = await askingUpstream();
    await house.decide('fleet.add', { name: 'widened', url, roots: ['/srv/app'] });
    const path = join(house.home, 'sallyport.yaml');
    writeFileSync(path, readFileSync(path, 'utf8').replace('- /srv/app', '- /'));
    const kimi = await house.agent();
    const state = async () =>
      ((await house.local('fleet.list')) as { name: string; state: string }[]).find(({ name }) => name === 'widened');
    await expect.poll(async () => (await state())?.state, { timeout: 5_000 }).toBe('unaccepted');
    const host = fakeHost({ roots: {} }, answers);
    await kimi.refusal('widened__ask', { method: 'roots/list' }, { host });
    expect(host.asked).toEqual([]);
  });

  test('[ROOTS-4] has its roots in what is signed, and a path with several readings is refused in words', async () => {
    const { url } = await askingUpstream();
    const statement = await house.prepare('fleet.add', { name: 'signed', url, roots: ['/srv', 'file:///home/me'] });
    expect(statement.shown['connects']).toMatchObject({ roots: ['/srv', 'file:///home/me'] });
    await house.decide('fleet.add', { name: 'signed', url, roots: ['/srv', 'file:///home/me'] }, statement);
    const settings = parse(readFileSync(join(house.home, 'sallyport.yaml'), 'utf8')) as {
      upstreams: { name: string; roots?: string[] }[];
    };
    expect(settings.upstreams.find(({ name }) => name === 'signed')?.roots).toEqual(['/srv', 'file:///home/me']);
    for (const roots of [['srv'], ['/srv/../etc'], ['file:///srv/%2e%2e'], ['https://a/srv']]) {
      const refused = (await house
        .prepare('fleet.add', { name: 'bad', url, roots })
        .catch((thrown: unknown) => thrown)) as AppError;
      expect(refused).toMatchObject({ code: 'fleet.bad_spec', message: expect.stringContaining('roots[0]') as string });
    }
  });
});
