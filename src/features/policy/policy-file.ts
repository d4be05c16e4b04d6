// policies.yaml as a file: there, not there, or there and unreadable. Never more of it in memory than a policy can have.
import { AppError, asAppError } from '../../kernel/errors.ts';
import type { Digest, Files } from '../../kernel/ports.ts';
import { maxBytes } from './yaml-text.ts';

export type DiskText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable'; readonly reason: string };

export async function readPolicyFile(files: Files, path: string): Promise<DiskText> {
  try {
    const bytes = await files.readBytes(path, { offset: 0, length: maxBytes + 1 });
    if (bytes === undefined) return { kind: 'missing' };
    if (bytes.length > maxBytes) return { kind: 'unreadable', reason: `it is larger than ${maxBytes} bytes` };
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch (thrown) {
    if (thrown instanceof TypeError) return { kind: 'unreadable', reason: 'it is not UTF-8' };
    return { kind: 'unreadable', reason: asAppError(thrown).message };
  }
}

/** Hex SHA-256 of the UTF-8 text: a policy's version. */
export function hashOf(digest: Digest, text: string): string {
  return Array.from(digest.sha256(text), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** What is signed is the text in force and one rule more; a file that says something else would be signed along unseen, or lost. */
export function edited(): AppError {
  const message = 'policies.yaml was edited and is not the policy in force, so nothing was added to it.';
  return new AppError('conflict', 'policy.edited', message, {
    hint: 'Adopt the edit first (sallyport policies adopt) or take it back, then accept again.',
  });
}
