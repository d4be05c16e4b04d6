import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readSettings } from './config.ts';

let home = '';
beforeEach(() => (home = mkdtempSync(join(tmpdir(), 'sallyport-config-'))));
afterEach(() => rmSync(home, { recursive: true, force: true }));
const settle = (text: string, flags = {}) => {
  writeFileSync(join(home, 'sallyport.yaml'), text);
  return readSettings({ SALLYPORT_HOME: home }, flags);
};

test('an empty home has the defaults', () => {
  const settings = readSettings({ SALLYPORT_HOME: home }, {});
  expect(settings).toMatchObject({
    home,
    agentPort: 7077,
    humanPort: 7078,
    storage: `sqlite:${join(home, 'state.db')}`,
    logLevel: 'info',
    naming: { style: 'plain', longest: 64 },
  });
});

test('[NAME-3] the naming of tools is the operator’s to set', () => {
  expect(settle('naming: safe\nlongest_name: 48')).toMatchObject({ naming: { style: 'safe', longest: 48 } });
});

test('[CATALOG-1] a catalogue from elsewhere needs its key and one place; plain http is for hosts that are named', () => {
  const key = 'A'.repeat(43);
  expect(settle(`registry: { key: ${key}, path: /srv/catalogue }\n`)).toMatchObject({
    registry: { key, place: { path: '/srv/catalogue' } },
  });
  expect(settle(`registry: { key: ${key}, url: 'https://a.example/c' }\n`)).toMatchObject({
    registry: { place: { url: 'https://a.example/c' } },
  });
  expect(settle('registration: { insecure_hosts: [wiki.lan] }\n').insecureHosts).toEqual(['wiki.lan']);
  for (const text of [
    'registry: { path: /srv/catalogue }',
    `registry: { key: ${key} }`,
    `registry: { key: ${key}, path: relative }`,
    `registry: { key: ${key}, path: /a, url: 'https://a.example' }`,
    `registry: { key: ${key}, url: 'http://a.example' }`,
    'registry: { key: short, path: /a }',
  ])
    expect(() => settle(`${text}\n`)).toThrow(/registry/);
});

test('flags win over the file', () => {
  expect(settle('listeners: { agent_port: 1234, human_port: 1235 }', { agentPort: 0 })).toMatchObject({
    agentPort: 0,
    humanPort: 1235,
  });
});

test.each([
  ['listener: {}', /Unrecognized key: "listener"/],
  ['listeners: { agent_port: 70000 }', /listeners\.agent_port/],
  ['storage: mysql://x', /postgres:\/\//],
  ['naming: short', /naming: /],
  ['longest_name: 30', /longest_name: /],
  ['a: [', /sallyport\.yaml: /],
])('%s is refused with file and key', (text, message) => {
  expect(() => settle(text)).toThrow(message);
});
