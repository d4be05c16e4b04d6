// What the README tells people to type and paste: policies parse, configuration is well-formed, commands and links exist.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { declaredOperations } from '../src/app/catalog.ts';
import { programCommands } from '../src/app/program.ts';
import { parsePolicy } from '../src/features/policy/file.ts';
import { lint } from '../src/features/policy/lint.ts';

const root = new URL('..', import.meta.url).pathname;
const readme = readFileSync(join(root, 'README.md'), 'utf8');

function blocks(language: string): string[] {
  return [...readme.matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, 'g'))].map((match) => match[1] ?? '');
}

test('the policy of the README parses, and policies check would have no warning for it', () => {
  const examples = blocks('yaml');
  expect(examples.length).toBeGreaterThan(0);
  for (const text of examples) {
    const parsed = parsePolicy(text);
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.findings));
    expect(lint(parsed.file, ['claude-code']).filter(({ severity }) => severity !== 'note')).toEqual([]);
  }
});

test('the client configurations of the README are JSON with one server called sallyport', () => {
  const examples = blocks('json').map((text) => JSON.parse(text) as Record<string, Record<string, unknown>>);
  expect(examples.length).toBeGreaterThan(3);
  for (const example of examples) expect(Object.keys(example['mcpServers'] ?? example['servers'] ?? {})).toEqual(['sallyport']);
});

test('every command the README names exists', () => {
  const startDaemon = (): Promise<never> => Promise.reject(new Error('not here'));
  const commands = programCommands({ environment: {}, operations: declaredOperations(), startDaemon }, '/nowhere');
  const known = new Set(commands.map(({ words }) => words.join(' ')));
  const typed = blocks('sh').flatMap((text) =>
    [...text.matchAll(/^sallyport ((?:[a-z]+(?:-[a-z]+)* ?)+)/gm)].map((match) => (match[1] ?? '').trim()),
  );
  expect(typed.length).toBeGreaterThan(6);
  expect(typed.filter((words) => ![...known].some((name) => `${words} `.startsWith(`${name} `)))).toEqual([]);
});

// `agent add · ls` in the table are two commands.
test('the command table of the README and the commands there are agree', () => {
  const startDaemon = (): Promise<never> => Promise.reject(new Error('not here'));
  const commands = programCommands({ environment: {}, operations: declaredOperations(), startDaemon }, '/nowhere');
  const table = /## Commands\n([^]*?)\n## /.exec(readme)?.[1] ?? '';
  const named = [...table.matchAll(/^\| (`.*) \| /gm)].flatMap((row) =>
    [...(row[1] ?? '').matchAll(/`([^`]+)`/g)].flatMap((code) => {
      const [first = '', ...others] = (code[1] ?? '').split(' · ');
      const group = first.split(' ')[0] ?? '';
      return [first, ...others.map((verb) => `${group} ${verb}`)];
    }),
  );
  expect(named.toSorted()).toEqual(commands.map(({ words }) => words.join(' ')).toSorted());
});

test('every link of a document to another file leads somewhere', () => {
  const decisions = readdirSync(join(root, 'docs/decisions')).map((name) => `docs/decisions/${name}`);
  const broken: string[] = [];
  for (const file of ['README.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'bench/README.md', ...decisions]) {
    for (const [, target = ''] of readFileSync(join(root, file), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)) {
      if (!existsSync(join(root, dirname(file), target))) broken.push(`${file}: ${target}`);
    }
  }
  expect(broken).toEqual([]);
});
