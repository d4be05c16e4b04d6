// Telling the server that tokens are not used any more (RFC 7009). Best effort: whatever it answers, we have forgotten them.
import type { TokenHttp } from '../../../kernel/ports.ts';
import type { LoginRecord } from './login-record.ts';
import { clientHeaders } from './token-endpoint.ts';

/** True when the server said that they are of no use any more. The refresh token goes first: with it most servers end the rest as well. */
export async function revoke(http: TokenHttp, record: LoginRecord, signal: AbortSignal): Promise<boolean> {
  const url = record.revocation_endpoint;
  if (url === undefined) return false;
  const wanted = [
    ['refresh_token', record.refresh_token],
    ['access_token', record.access_token],
  ] as const;
  const answers: boolean[] = [];
  for (const [hint, token] of wanted) {
    if (token === undefined) continue;
    const body = new URLSearchParams({ token, token_type_hint: hint });
    const headers = { 'content-type': 'application/x-www-form-urlencoded', ...clientHeaders(record.client, body) };
    const text = body.toString();
    const answer = http.request({ url, method: 'POST', headers, body: text, signal, timeoutMs: 5_000, maxBytes: 16_384 });
    answers.push(
      await answer.then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
  }
  return answers.length > 0 && answers.every(Boolean);
}
