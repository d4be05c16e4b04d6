// Reading a request of the human or local door: JSON, bounded, in the one shape these doors take.
import { z } from 'zod';
import type { Context } from 'hono';
import { AppError } from '../../kernel/errors.ts';
import type { Proof } from '../../kernel/caller.ts';
import { saltBytes, type CarriedSecrets } from '../../kernel/carried-secret.ts';
import { decodeBase64url } from '../../lib/base64url.ts';
import { parseStrictJson } from '../../wire/strict-json.ts';

/** A policy text or a tool definition fits; nothing of a decent size is larger. */
export const maxBodyBytes = 1024 * 1024;

const base64url = z.string().regex(/^[A-Za-z0-9_-]{1,128}$/);
/** A salt and a value that some operation could take; which, and how long, is its own affair. */
const secret = z
  .strictObject({ value: z.string().max(131_072), salt: z.string().length(43) })
  .transform(({ value, salt }, context) => {
    const bytes = { value: decodeBase64url(value), salt: decodeBase64url(salt) };
    if (bytes.value !== undefined && bytes.salt?.length === saltBytes) return { value: bytes.value, salt: bytes.salt };
    context.addIssue('not base64url');
    return z.NEVER;
  });
const requestBody = z.strictObject({
  input: z.unknown().optional(),
  secrets: z.record(z.string().regex(/^[a-z_]{1,32}$/), secret).optional(),
  proof: z
    .strictObject({
      challenge: base64url,
      method: z.enum(['passphrase', 'passphrase_file']),
      keyId: z.string().regex(/^[0-9a-f]{16}$/),
      signature: base64url,
    })
    .optional(),
});

export interface OperationRequest {
  /** `{}` when the caller sent none. */
  readonly input: unknown;
  readonly proof: Proof | undefined;
  readonly secrets: CarriedSecrets | undefined;
}

/** Throws `http.*` or `wire.bad_json` (kind invalid) for a body that is no JSON object of `{input?, proof?, secrets?}`, or too large. */
export async function readOperationRequest(context: Context): Promise<OperationRequest> {
  const type = context.req.header('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    throw new AppError('invalid', 'http.not_json', 'the body must be JSON', {
      hint: 'Send it with Content-Type: application/json.',
    });
  }
  const text = await readBounded(context.req.raw);
  const parsed = requestBody.safeParse(parseStrictJson(text));
  if (!parsed.success) {
    throw new AppError(
      'invalid',
      'http.bad_request',
      'the body must be {"input": …, "proof": …, "secrets": …}, proof only for a decision of the operator, secrets as {value, salt} in base64url',
    );
  }
  return { input: parsed.data.input ?? {}, proof: parsed.data.proof, secrets: parsed.data.secrets };
}

async function readBounded(request: Request): Promise<string> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBodyBytes) throw tooLarge();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  let size = 0;
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.byteLength;
      if (size > maxBodyBytes) throw tooLarge();
      text += decoder.decode(chunk, { stream: true });
    }
    return text + decoder.decode();
  } catch (error) {
    if (error instanceof TypeError) throw new AppError('invalid', 'http.malformed', 'the body is not UTF-8', { cause: error });
    throw error;
  }
}

function tooLarge(): AppError {
  return new AppError('invalid', 'http.too_large', `the body is larger than ${maxBodyBytes} bytes`);
}
