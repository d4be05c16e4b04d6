// One look at a place where metadata may lie: the JSON object there, or that there is none. Bounded; follows nothing.
import type { JsonObject } from '../../../kernel/json.ts';
import type { TokenAnswer, TokenHttp } from '../../../kernel/ports.ts';
import { undiscovered } from './refusals.ts';

const maxBytes = 64 * 1024;
const timeoutMs = 10_000;

/**
 * `undefined` where there is none: a refusal of the request, or no JSON object. A redirect or a server that fails says nothing about that,
 * and rejects with `auth.not_discovered`: an outage must not lead to older ways. Rejects with what `TokenHttp` rejects with.
 */
export async function metadataAt(http: TokenHttp, url: string, signal: AbortSignal): Promise<JsonObject | undefined> {
  const headers = { accept: 'application/json', 'mcp-protocol-version': '2025-11-25' };
  const { status, body } = await http.request({ url, method: 'GET', headers, signal, timeoutMs, maxBytes });
  if (status < 200 || (status >= 300 && status < 400) || status >= 500) throw undiscovered(url, `answered with HTTP ${status}`);
  return status === 200 ? jsonObject(body) : undefined;
}

export function jsonObject(body: TokenAnswer['body']): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function textsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : undefined;
}
