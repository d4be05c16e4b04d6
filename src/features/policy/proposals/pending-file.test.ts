import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { pendingText } from './pending-file.ts';
import type { Proposal } from './proposal.ts';

const proposal = (n: number, more: Partial<Proposal> = {}): Proposal => ({
  n,
  agent: 'kimi',
  match: 'stripe:read:*',
  ttlMs: 600_000,
  justification: 'Read invoices',
  proposedAt: 0,
  state: 'pending',
  ...more,
});

const read = (text: string): unknown[] =>
  parseAllDocuments(text).map((document) => {
    const { errors, warnings } = document as unknown as { errors: unknown[]; warnings: unknown[] };
    expect([...errors, ...warnings]).toEqual([]);
    return (document as unknown as { toJS(): unknown }).toJS();
  });

describe('policies.pending.yaml', () => {
  test('[PROP-4] is one document for each proposal, under a heading that says what it is', () => {
    const text = pendingText([proposal(1), proposal(7, { conflict: 'All of it is blocked.', match: 'a:b:c' })], undefined);
    expect(text).toContain('# Look at them with: sallyport policies review\n');
    expect(text).toContain('---\nn: 1\nproposedAt: "1970-01-01T00:00:00.000Z"\nagentId: "kimi"\n');
    expect(read(text)).toMatchObject([
      { n: 1, rule: { match: 'stripe:read:*', ttl: '10m' }, justification: 'Read invoices', status: 'pending_human_review' },
      { n: 7, rule: { match: 'a:b:c' }, lint: 'conflicts_with_limits', lint_note: 'All of it is blocked.' },
    ]);
    expect(pendingText([], text)).toBe(text.slice(0, text.indexOf('---')));
  });

  test('[PROP-2] says of any justification just that, and holds no character that disturbs', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom('\n', '-', '"', '\\', "'", '#', ' ', ':', '&', '\u0085', '\u2028') }),
    );
    fc.assert(
      fc.property(texts, texts, (one, other) => {
        const text = pendingText([proposal(1, { justification: one }), proposal(2, { justification: other })], undefined);
        expect(read(text)).toMatchObject([
          { n: 1, justification: one },
          { n: 2, justification: other },
        ]);
        expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/u);
        expect(pendingText([proposal(1, { justification: one }), proposal(2, { justification: other })], text)).toBe(text);
      }),
    );
  });

  test('[PROP-4] keeps comments of people where the document still says the same, and nowhere else', () => {
    const both = [proposal(1), proposal(2)];
    const text = `# Eve's\r\n${pendingText(both, undefined).replace('n: 1\n', 'n: 1 # later\n# and ask Bob\n')}`;
    expect(pendingText(both, text)).toBe(text);
    expect(pendingText([proposal(2)], text)).not.toContain('later');
    const edited = text.replace('"kimi"', '"bob"');
    expect(pendingText(both, edited)).not.toMatch(/bob"|later/);
  });

  test.each([
    ['another program wrote', 'a: &x [1, *x]\n---\n!!js/function f\n---\n{'],
    ['is no text', '\u0000'],
    ['has no end', '---\n'.repeat(10_000)],
    ['is too long', '#'.repeat(1_048_577)],
    ['is a bomb', `a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n---\n`],
    ['is all comments', '#\r\n'.repeat(20_000) + 'x'],
  ])('[PROP-4] a file that %s is written anew, at once', (_, existing) => {
    const started = performance.now();
    expect(pendingText([proposal(1)], existing)).toBe(pendingText([proposal(1)], undefined));
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
