import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createDigest } from '../../platform/crypto.ts';
import { usualNaming, type Naming, type ToolKey } from './model.ts';
import { assignNames, fullName } from './tool-names.ts';

const digest = createDigest();
const safe: Naming = { style: 'safe', longest: 64 };

/** `upstream tool` → name. */
function namesOf(tools: readonly ToolKey[], naming = usualNaming): Record<string, string> {
  return Object.fromEntries([...assignNames(tools, naming, digest)].map(([tool, name]) => [keyOf(tool), name]));
}
const keyOf = ({ upstream, tool }: ToolKey): string => `${upstream} ${tool}`;
const nameOf = (upstream: string, tool: string, naming = usualNaming): string =>
  namesOf([{ upstream, tool }], naming)[`${upstream} ${tool}`] ?? '';
const up = (...tools: string[]): ToolKey[] => tools.map((tool) => ({ upstream: 'up', tool }));

describe('[NAME-1] a name', () => {
  test.each(['echo', 'getUser', 'API-post-search', 'a.b', '_private', 'x'.repeat(60), 'web_search_20250305'])(
    'that fits stays as it is: %s',
    (tool) => expect(nameOf('up', tool)).toBe(`up__${tool}`),
  );

  test('of a server of 40 characters and a tool of 40 is 64 long, reads like both, and is the same for ever', () => {
    const [server, tool] = ['company-wide-document-management-service', 'create_or_update_document_with_attachment'.slice(0, 40)];
    expect([server.length, tool.length]).toEqual([40, 40]);
    expect(nameOf(server, tool)).toBe('company-wide-documen__create_or_update_document_with_a__b68c97bb');
    expect(nameOf(server, tool)).toHaveLength(64);
  });

  test.each([
    ['has a character that model APIs refuse', 'up', 'repos/list', 'up__repos_list__'],
    ['is one over the limit', 'up', 'x'.repeat(61), `up__${'x'.repeat(50)}__`],
    ['has a long server and a short tool', 'u'.repeat(64), 'go', `${'u'.repeat(50)}__go__`],
    ['is of an upstream that ends like the joint begins', 'up_', 'go', 'up___go__'],
    ['passes itself off as a short form', 'up', 'go__0123abcd', 'up__go__0123abcd__'],
    ['passes itself off as a longer one', 'up', `go__${'A1'.repeat(16)}`, `up__go__${'A1'.repeat(16)}__`],
  ])('is shortened when it %s', (_why, upstream, tool, head) => {
    const name = nameOf(upstream, tool);
    expect(name.length).toBeLessThanOrEqual(64);
    expect(name.slice(0, -8)).toBe(head);
    expect(name.slice(-8)).toMatch(/^[0-9a-f]{8}$/);
  });

  test('leaves room for what a client puts in front where the operator says so', () => {
    const prefixed = 'mcp__sallyport__';
    const naming: Naming = { style: 'plain', longest: 64 - prefixed.length };
    expect(`${prefixed}${nameOf('files', 'list_directory_with_sizes', naming)}`).toHaveLength(prefixed.length + 32);
    expect(`${prefixed}${nameOf('documents', 'create_or_update_document_with_attachment', naming)}`).toHaveLength(64);
  });
});

// These two have the same readable part and the same first 32 bits of SHA-256.
const figures = 'collect_the_quarterly_figures_of_every_subsidiary_in_';
const books = [144380, 146327].map((number): ToolKey => ({ upstream: 'books', tool: `${figures}${number}` }));

describe('[NAME-2] names that would meet', () => {
  test('by letter case alone are kept apart: the one in lower case keeps it, whatever the order', () => {
    const names = namesOf(up('search', 'Search', 'SEARCH', 'find'));
    expect(names).toMatchObject({ 'up search': 'up__search', 'up find': 'up__find' });
    expect(names['up Search']).toMatch(/^up__Search__[0-9a-f]{8}$/);
    expect(names['up SEARCH']).toMatch(/^up__SEARCH__[0-9a-f]{8}$/);
    expect(namesOf(up('SEARCH', 'find', 'Search', 'search'))).toEqual(names);
    expect(namesOf(up('Search'))).toEqual({ 'up Search': 'up__Search' });
  });

  test('in two upstreams do not: each has its own prefix', () => {
    const both = [...up('search'), { upstream: 'down', tool: 'search' }];
    expect(Object.values(namesOf(both))).toEqual(['up__search', 'down__search']);
  });

  test('across the joint are told apart', () => {
    const names = namesOf([
      { upstream: 'a', tool: '_b' },
      { upstream: 'a_', tool: 'b' },
    ]);
    expect(names['a _b']).toBe('a___b');
    expect(names['a_ b']).toMatch(/^a___b__[0-9a-f]{8}$/);
  });

  test('by a collision of short forms both get longer ones, and the short one means neither', () => {
    const [one, other] = books.map((book) => namesOf([book])[keyOf(book)]);
    expect(one).toBe(other);
    expect(one).toMatch(/__da71cce4$/);
    const together = Object.values(namesOf(books));
    expect(new Set([...together, one]).size).toBe(3);
    for (const name of together) expect(name).toMatch(/^books__collect_the_quarterl_*.*__[0-9a-f]{32}$/);
  });

  test('a short form that another tool bears as its own name stays with the one it was made for', () => {
    const [long] = Object.values(namesOf(up('repos/list')));
    const forged = (long ?? '').slice('up__'.length);
    const names = namesOf(up('repos/list', forged));
    expect(names['up repos/list']).toBe(long);
    expect(names[`up ${forged}`]).not.toBe(long);
  });
});

describe('[NAME-3] safe naming', () => {
  test('maps dots, and the tool that is spelled so itself keeps the name', () => {
    expect(namesOf(up('a.b', 'c'), safe)).toEqual({ 'up a.b': 'up__a_b', 'up c': 'up__c' });
    const both = namesOf(up('a.b', 'a_b'), safe);
    expect(both['up a_b']).toBe('up__a_b');
    expect(both['up a.b']).toMatch(/^up__a_b__[0-9a-f]{8}$/);
  });

  test('gives nobody a name that two had to be mapped to', () => {
    const names = Object.values(namesOf(up('a.b_c', 'a_b.c'), safe));
    expect(names).toHaveLength(2);
    for (const name of names) expect(name).toMatch(/^up__a_b_c__[0-9a-f]{8}$/);
  });

  test('in the plain style dots stay, as MCP allows them', () => {
    expect(Object.values(namesOf(up('a.b', 'a_b')))).toEqual(['up__a.b', 'up__a_b']);
  });
});

describe('[NAME-4] for any set of tools', () => {
  // Few letters and pieces that matter, so that names meet often.
  const upstream = fc.oneof(
    fc.constantFrom('a', 'b', 'a_', 'a-b', 'b_a', 'u'.repeat(40), 'u'.repeat(64), `${'u'.repeat(39)}_`),
    fc.stringMatching(/^[ab](?:_?[ab-]){0,20}$/),
  );
  const piece = fc.constantFrom(
    'a',
    'A',
    'b',
    '_',
    '__',
    '.',
    '/',
    ':',
    '-',
    '12345678',
    'abcdef01',
    't'.repeat(40),
    'T'.repeat(40),
  );
  const tool = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join('').slice(0, 128));
  const sets = fc.uniqueArray(fc.record({ upstream, tool }), { selector: keyOf, maxLength: 40 });
  const namings = fc.record({
    style: fc.constantFrom('plain' as const, 'safe' as const),
    longest: fc.integer({ min: 40, max: 64 }),
  });

  test('names are unique without regard to case, within the limit, of the charset, and independent of order', () => {
    fc.assert(
      fc.property(
        namings,
        sets.chain((tools) => fc.tuple(fc.constant(tools), fc.shuffledSubarray(tools, { minLength: tools.length }))),
        (naming, [tools, shuffled]) => {
          const names = namesOf(tools, naming);
          const all = Object.values(names);
          expect(all).toHaveLength(tools.length);
          expect(new Set(all.map((name) => name.toLowerCase())).size).toBe(tools.length);
          const charset = naming.style === 'safe' ? /^[A-Za-z0-9_-]+$/ : /^[A-Za-z0-9_.-]+$/;
          for (const name of all) {
            expect(name).toMatch(charset);
            expect(name.length).toBeLessThanOrEqual(naming.longest);
          }
          expect(namesOf(shuffled, naming)).toEqual(names);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('adding tools changes no name but those that the new ones differ from by case alone, and no name comes to mean another tool', () => {
    fc.assert(
      fc.property(sets, fc.integer({ min: 0, max: 40 }), (tools, at) => {
        const few = tools.slice(0, at);
        const before = namesOf(few);
        const after = namesOf(tools);
        const added = new Set(tools.slice(at).map((one) => fullName(one).toLowerCase()));
        const apart = few.filter((one) => !added.has(fullName(one).toLowerCase())).map(keyOf);
        expect(apart.map((key) => after[key])).toEqual(apart.map((key) => before[key]));
        for (const one of few) {
          const name = before[keyOf(one)];
          const others = tools.filter((other) => keyOf(other) !== keyOf(one)).map((other) => after[keyOf(other)]);
          expect(others).not.toContain(name);
        }
      }),
      { numRuns: 300 },
    );
  });
});
