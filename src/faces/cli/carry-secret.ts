// Secrets on their way to the daemon: each with a salt of its own beside the input, and its commitment inside.
import { commitmentField, commitmentInput, saltBytes, type CarriedSecrets } from '../../kernel/carried-secret.ts';
import { encodeBase64url } from '../../lib/base64url.ts';

export interface Carried {
  /** To be put into the input: `<name>_commitment`. */
  readonly commitments: Readonly<Record<string, string>>;
  /** To be sent along; the values are those given, not copies. */
  readonly secrets: CarriedSecrets;
}

export async function carrySecrets(values: Readonly<Record<string, Uint8Array>>): Promise<Carried> {
  const secrets: Record<string, CarriedSecrets[string]> = {};
  const commitments: Record<string, string> = {};
  for (const [name, value] of Object.entries(values)) {
    const secret = { value, salt: crypto.getRandomValues(new Uint8Array(saltBytes)) };
    const bytes = commitmentInput(name, secret);
    commitments[commitmentField(name)] = encodeBase64url(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
    bytes.fill(0);
    secrets[name] = secret;
  }
  return { commitments, secrets };
}
