import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isVendorMethod, readVendorRequest } from './vendor-methods.ts';

/** Every method that a published schema names. */
function methodsOf(revision: string): string[] {
  const file = new URL(`../../test/fixtures/mcp-schema/${revision}.json`, import.meta.url);
  const { $defs } = JSON.parse(readFileSync(file, 'utf8')) as {
    $defs: Record<string, { properties?: { method?: { const?: string } } }>;
  };
  return Object.values($defs).flatMap(({ properties }) => properties?.method?.const ?? []);
}

test.each(['2025-11-25', '2026-07-28'])('[TWOWAY-14] no method of %s is an upstream’s own', (revision) => {
  const methods = methodsOf(revision);
  expect(methods.length).toBeGreaterThan(15);
  expect(methods.filter(isVendorMethod)).toEqual([]);
});

test.each(['vendor/do', 'tools/vendor', 'task', 'Ping', '__proto__'])('[TWOWAY-14] %s is', (method) => {
  expect(isVendorMethod(method)).toBe(true);
});

test('[TWOWAY-14] params that are none are refused as bad params', () => {
  expect(() => readVendorRequest('v', { _meta: { progressToken: {} } })).toThrow(
    expect.objectContaining({ code: 'wire.bad_params' }) as Error,
  );
  expect(readVendorRequest('v', {})).toMatchObject({ rest: {}, progressToken: undefined });
});
