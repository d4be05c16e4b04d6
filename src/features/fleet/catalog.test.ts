import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { acceptAll, fleetHome, operate, settingsText } from '../../../test/support/fleet-home.ts';
import { createDigest } from '../../platform/crypto.ts';
import { usualNaming } from './model.ts';
import { shortName } from './tool-names.ts';

const shortOf = (tool: string): string => shortName({ upstream: 'up', tool }, usualNaming, createDigest());
const listText = (tools: Readonly<Record<string, string>>): string =>
  JSON.stringify(Object.entries(tools).map(([name, description]) => ({ name, description, inputSchema: { type: 'object' } })));

async function opened(tools: Readonly<Record<string, string>>) {
  const home = await fleetHome();
  const file = join(home.folder, 'list.json');
  writeFileSync(file, listText(tools));
  home.writeSettings(settingsText({ name: 'up', behaviour: 'definitions', args: [file] }));
  const fleet = await home.open();
  await acceptAll(fleet);
  const relist = async (next: Readonly<Record<string, string>>): Promise<void> => {
    writeFileSync(file, listText(next));
    await fleet.diagnose(new AbortController().signal);
  };
  return { fleet, relist, names: () => fleet.catalog().map(({ name }) => name) };
}

test('[NAME-4] what nobody accepted changes no name, and what was accepted leaves the old name with its tool', async () => {
  const { fleet, relist, names } = await opened({ Search: 'a' });
  expect(names()).toEqual(['up__Search']);
  await relist({ Search: 'a', search: 'b' });
  expect(names()).toEqual(['up__Search']);
  await operate(fleet, 'fleet.accept-tools', { upstream: 'up', tool: 'search' });
  expect(names()).toEqual([shortOf('Search'), 'up__search']);
  expect(fleet.named(shortOf('Search'))).toMatchObject({ upstream: 'up', tool: 'Search' });
  // The gateway cuts it into upstream and tool, as the name is the tool's own.
  expect(fleet.named('up__Search')).toBeUndefined();
});

test('[NAME-5] a quarantined tool is known by the short form it was listed under', async () => {
  const { fleet, relist, names } = await opened({ Search: 'a', search: 'b', 'a/b': 'c' });
  await relist({ Search: 'changed', search: 'b', 'a/b': 'changed' });
  expect(names()).toEqual(['up__search']);
  for (const tool of ['Search', 'a/b']) {
    expect(fleet.named(shortOf(tool))).toMatchObject({ upstream: 'up', tool });
    expect(fleet.resolve('up', tool).kind).toBe('quarantined');
  }
  await relist({ search: 'b' });
  expect(fleet.named(shortOf('a/b'))).toBeUndefined();
});

test('[NAME-4] only the name differs in what is listed, and an unchanged tool is drawn once', async () => {
  const { fleet, relist } = await opened({ 'a/b': 'c', other: 'd' });
  const [before] = fleet.catalog();
  expect(before?.listed).toBe(before?.definition.replace('"a/b"', `"${shortOf('a/b')}"`));
  await relist({ 'a/b': 'c', other: 'changed' });
  expect(fleet.catalog()).toHaveLength(1);
  expect(fleet.catalog()[0]).toBe(before);
});
