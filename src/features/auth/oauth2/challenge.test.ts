// The challenge of a protected resource, as servers write it and as they should not.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { bearerChallenge, scopesIn } from './challenge.ts';

test.for([
  ['Bearer', {}],
  ['bearer resource_metadata="https://a.test/x"', { resourceMetadata: 'https://a.test/x' }],
  ['Bearer realm="x, y", scope="a b", error=insufficient_scope', { scopes: ['a', 'b'], error: 'insufficient_scope' }],
  ['Basic realm="Bearer scope=\\"no\\"", Bearer scope="yes"', { scopes: ['yes'] }],
  ['Negotiate abc==, Bearer error="invalid_token"', { error: 'invalid_token' }],
  ['Bearer scope="first", scope="second"', { scopes: ['first'] }],
  ['Bearer error="a", DPoP algs="ES256", error="b"', { error: 'a' }],
  ['Bearer Error = "a\\"b"', { error: 'a"b' }],
  ['Bearer resource_metadata=https://a.test/x', { resourceMetadata: 'https://a.test/x' }],
] as const)('[OAUTH-11] the challenge %s is read', ([header, wanted]) => {
  expect(bearerChallenge(header)).toEqual(wanted);
});

test.for([undefined, '', 'Basic realm="x"', 'Digest Bearer="x"', `Bearer error="${'x'.repeat(9_000)}"`])(
  '[OAUTH-11] there is no challenge in %s',
  (header) => {
    expect(bearerChallenge(header)).toBeUndefined();
  },
);

test('[OAUTH-11] no header makes it throw, or take long', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 8_000, unit: 'binary-ascii' }), (text) => {
      expect(() => bearerChallenge(`Bearer ${text}`)).not.toThrow();
    }),
  );
});

test('[OAUTH-16] scopes are names between spaces, each once and none that could be more than one', () => {
  expect(scopesIn('a  b a "c" d\\e \u00e9 f\n')).toEqual(['a', 'b']);
});
