// Connections to names that lead to places their entry rules out: none is made. The resolver is the one thing that is faked.
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { lookup } from 'node:dns';
import { describe, expect, onTestFinished, test } from 'vitest';
import { asAppError } from '../kernel/errors.ts';
import { connectorOf } from '../../test/support/http-upstream.ts';
import { guardedLookup } from './guarded-lookup.ts';

/** A resolver that gives these addresses, one set for each question in turn. */
function resolver(...answers: readonly (readonly string[])[]): typeof lookup {
  let asked = 0;
  const fake = (_: string, __: object, callback: (error: null, found: object[]) => void): void => {
    const found = answers[Math.min(asked, answers.length - 1)] ?? [];
    asked += 1;
    callback(
      null,
      found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return fake as unknown as typeof lookup;
}

function ask(look: ReturnType<typeof guardedLookup>, all = true): Promise<{ error: Error | null; address: unknown }> {
  return new Promise((resolve) => look('name.example', { all }, (error, address) => resolve({ error, address })));
}

describe('a name that may lead to public addresses only', () => {
  test.each([
    ['127.0.0.1'],
    ['10.1.2.3'],
    ['169.254.169.254'],
    ['fd00:ec2::254'],
    ['::ffff:192.168.0.1'],
    ['0.0.0.0'],
    ['8.8.8.8', '::1'],
  ])('[SSRF-3] is refused when it leads to %s', async (...found) => {
    const { error } = await ask(guardedLookup('public', resolver(found)));
    expect(error?.message).toMatch(/its name leads to .* 'addresses: public'/);
  });

  test('[SSRF-3] is looked at again at every connection', async () => {
    const look = guardedLookup('public', resolver(['8.8.8.8'], ['169.254.169.254']));
    expect((await ask(look)).error).toBeNull();
    expect((await ask(look, false)).error?.message).toContain('metadata');
  });

  test('gives one address to whoever asks for one', async () => {
    expect(await ask(guardedLookup('public', resolver(['8.8.8.8', '1.1.1.1'])), false)).toEqual({
      error: null,
      address: '8.8.8.8',
    });
  });
});

test('[SSRF-3] one that may lead home reaches private addresses and this machine, never the credentials of the machine', async () => {
  const look = guardedLookup('local', resolver(['10.0.0.1'], ['::1'], ['169.254.169.254'], ['fe80::1'], ['100.100.100.200']));
  const errors = [await ask(look), await ask(look), await ask(look), await ask(look), await ask(look)].map(
    ({ error }) => error === null,
  );
  expect(errors).toEqual([true, true, false, false, false]);
});

test.each(['http', 'https'])('[SSRF-3] over %s not one connection arrives where the entry does not lead', async (scheme) => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const target = { url: `${scheme}://localhost:${port}/mcp`, headers: {}, key: scheme, addresses: 'public' as const };
  const opening = { startTimeoutMs: 3_000, signal: new AbortController().signal, listens: false };
  const error = asAppError(
    await connectorOf()
      .open(target, opening)
      .catch((thrown: unknown) => thrown),
  );
  expect(error).toMatchObject({ code: 'fleet.unreachable', data: { sent: false } });
  expect(error.message).toContain("which is loopback, and its entry says 'addresses: public'");
  expect(connections).toBe(0);
  await connectorOf()
    .open({ ...target, addresses: 'local' }, opening)
    .catch(() => undefined);
  expect(connections).toBeGreaterThan(0);
});
