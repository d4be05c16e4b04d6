// What providers are made of in a test: the real ports, a wish, and the secrets as the vault hands them over.
import type { MintDeps } from '../../src/features/auth/mint-exchange.ts';
import { createClock } from '../../src/platform/clock.ts';
import { createDigest, createEntropy } from '../../src/platform/crypto.ts';
import { createKeySigner } from '../../src/platform/key-signer.ts';
import { createTokenHttp } from '../../src/platform/token-http.ts';

export function mintDeps(more: Partial<MintDeps> = {}): MintDeps {
  return {
    clock: createClock(),
    entropy: createEntropy(),
    digest: createDigest(),
    keys: createKeySigner(),
    http: createTokenHttp(),
    ...more,
  };
}

export function wish(more: { readonly agent?: string; readonly ttlMs?: number } = {}) {
  return { upstream: 'my-up', refused: false, signal: new AbortController().signal, ...more };
}

export function secrets(text: string): ReadonlyMap<string, Uint8Array> {
  return new Map([['key', new TextEncoder().encode(text)]]);
}

/** What was thrown, as everything a person or a log may come to see of it. */
export async function failureOf(promise: Promise<unknown>): Promise<{ code: string; said: string }> {
  const failure = (await promise.then(
    () => ({ code: 'none', message: '' }),
    (error: unknown) => error,
  )) as { code: string; message: string; hint?: string; data?: object };
  return { code: failure.code, said: `${failure.message} ${failure.hint ?? ''} ${JSON.stringify(failure.data ?? {})}` };
}
