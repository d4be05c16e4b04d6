import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { acceptAll, failure, fleetHome, operate, settingsText, statusOf, until } from '../../../test/support/fleet-home.ts';
import { definitionBounds } from './schema-checks.ts';
import { drawReviews, type ReviewRow } from './review-rows.ts';
import { listOperation } from './operations/list.ts';

const object = { type: 'object' };
const good = { name: 'good', inputSchema: object };
const choosy = { name: 'choosy', inputSchema: { ...object, oneOf: [{}] } };
const bad = [
  { name: 'bare' },
  { name: 'text', inputSchema: { type: 'string' } },
  { name: 'either', inputSchema: { type: ['object', 'null'] } },
  { name: 'listed', inputSchema: { ...object, properties: [] } },
  { name: 'needy', inputSchema: { ...object, required: true } },
  { name: 'huge', description: 'x'.repeat(definitionBounds.chars), inputSchema: object },
];
const deep = `{"name":"deep","inputSchema":{"type":"object","x":${'['.repeat(5_000)}${']'.repeat(5_000)}}}`;
const listText = (...definitions: object[]): string => JSON.stringify(definitions);

async function opened(text: string) {
  const home = await fleetHome();
  const file = join(home.folder, 'list.json');
  writeFileSync(file, text);
  home.writeSettings(settingsText({ name: 'up', behaviour: 'definitions', args: [file] }, { name: 'other' }));
  const fleet = await home.open();
  await acceptAll(fleet);
  return { home, fleet, file };
}

const reviews = async (fleet: Parameters<typeof operate>[0]): Promise<ReviewRow[]> =>
  (await operate(fleet, 'fleet.review', {})).output as ReviewRow[];

describe('[NAME-6] a definition that no client could take', () => {
  test('is left out alone, at its first listing, while its neighbours and other upstreams stay', async () => {
    const { fleet, home } = await opened(`${listText(good, ...bad).slice(0, -1)},${deep}]`);
    expect(
      fleet
        .catalog()
        .map(({ name }) => name)
        .filter((name) => name.startsWith('up__')),
    ).toEqual(['up__good']);
    expect(fleet.catalog().filter(({ upstream }) => upstream === 'other')).toHaveLength(9);
    expect(home.audit.of('tool.quarantined').map(({ facts }) => [facts?.['tool'], facts?.['usable']])).toHaveLength(7);
    expect(statusOf(fleet, 'up')).toMatchObject({ tools: 1, quarantined: 7 });
  });

  test('is told in words by review and by upstream ls, and nobody can accept it', async () => {
    const { fleet } = await opened(`${listText(good, ...bad).slice(0, -1)},${deep}]`);
    const rows = await reviews(fleet);
    const reasons = Object.fromEntries(rows.map(({ tool, unusable }) => [tool, unusable]));
    expect(reasons).toEqual({
      bare: 'it has no inputSchema',
      text: 'its inputSchema has type "string" at its top, and must have type "object"',
      either: 'its inputSchema has type ["object","null"] at its top, and must have type "object"',
      listed: 'inputSchema.properties is no object with a schema for each name',
      needy: 'inputSchema.required is no list of different names',
      huge: expect.stringContaining('are too many') as string,
      deep: 'it nests more than 100 levels deep',
    });
    const drawn = drawReviews(rows);
    expect(drawn).toContain('  It is left out: it has no inputSchema. Nobody can accept it: only its authors can mend it.');
    expect(drawn.length).toBeLessThan(5_000);

    const draw = listOperation({ fleet, reachable: () => true }).command?.draw as (output: unknown) => string;
    const ls = draw((await operate(fleet, 'fleet.list', {})).output);
    expect(ls).toContain('  bare is left out: it has no inputSchema\n');
    expect(ls).toContain('  further tools that are left out: 2; see: sallyport tools review up\n');
    expect(ls).not.toContain('wait for you');

    for (const tool of Object.keys(reasons)) {
      expect(await failure(operate(fleet, 'fleet.accept-tools', { upstream: 'up', tool }))).toMatchObject({
        code: 'fleet.bad_spec',
        hint: 'Nobody can accept it: only its authors can mend it.',
      });
    }
    expect(await failure(operate(fleet, 'fleet.accept-tools', { upstream: 'up', all: true }))).toMatchObject({
      code: 'fleet.bad_spec',
    });
  });

  test('takes the place of an accepted one, and goes as it came', async () => {
    const { fleet, file } = await opened(listText(good, choosy));
    writeFileSync(file, listText({ ...good, inputSchema: { ...object, properties: 7 } }, choosy));
    await fleet.diagnose(new AbortController().signal);
    expect(fleet.resolve('up', 'good').kind).toBe('quarantined');
    expect((await reviews(fleet))[0]).toMatchObject({ tool: 'good', change: 'changed', unusable: expect.any(String) as string });
    writeFileSync(file, listText(good, choosy));
    await fleet.diagnose(new AbortController().signal);
    await until(() => fleet.resolve('up', 'good').kind === 'tool');
  });
});

describe('[NAME-7] a definition that some clients or model APIs refuse', () => {
  test('is served, and review and upstream ls warn of it', async () => {
    const { fleet } = await opened(listText(good, choosy));
    expect(fleet.resolve('up', 'choosy').kind).toBe('tool');
    const rows = await reviews(fleet);
    expect(rows).toEqual([
      {
        upstream: 'up',
        tool: 'choosy',
        change: 'accepted',
        warnings: ['its inputSchema has oneOf at its top'],
        accepted_hash: expect.any(String) as string,
        differences: [],
      },
    ]);
    expect(drawReviews(rows)).toBe(
      [
        'up choosy: accepted',
        '  Some clients or model APIs refuse a whole list with it: its inputSchema has oneOf at its top.',
        '  It is served. If your client fails for it, expose the others only, with exposeTools.',
      ].join('\n'),
    );
    expect(statusOf(fleet, 'up')).toMatchObject({ tools: 2, quarantined: 0, warned: 1 });
    expect(statusOf(fleet, 'other')).not.toHaveProperty('warned');
  });

  test('is signed with its warning when it comes later', async () => {
    const { fleet, file } = await opened(listText(good));
    writeFileSync(file, listText(good, choosy));
    await fleet.diagnose(new AbortController().signal);
    const { shown } = await operate(fleet, 'fleet.accept-tools', { upstream: 'up', tool: 'choosy' });
    expect(shown).toMatchObject({ definitions: [{ tool: 'choosy', warnings: ['its inputSchema has oneOf at its top'] }] });
    expect(fleet.resolve('up', 'choosy').kind).toBe('tool');
  });
});
