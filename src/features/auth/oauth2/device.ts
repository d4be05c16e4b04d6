// Logging in on another device (RFC 8628): a short code is shown, and the token endpoint is asked until somebody has typed it there.
import type { Clock, TokenHttp } from '../../../kernel/ports.ts';
import { AppError } from '../../../kernel/errors.ts';
import { recordOf, type LoginPlan } from './authorization.ts';
import type { LoginRecord } from './login-record.ts';
import { jsonObject, textOf } from './metadata-answer.ts';
import { ledTo } from './places.ts';
import { answeredError, loginExpired, malformed, notSupported } from './refusals.ts';
import { askForTokens, clientHeaders } from './token-endpoint.ts';

/** What a person is shown, and what is asked with. */
export interface DeviceCode {
  readonly userCode: string;
  readonly page: string;
  /** The same with the code in it. */
  readonly pageWithCode?: string;
  readonly deviceCode: string;
  readonly intervalMs: number;
  readonly lifeMs: number;
}

const grant = 'urn:ietf:params:oauth:grant-type:device_code';
const what = 'The device endpoint';
/** RFC 8628 §3.5. */
const usualIntervalMs = 5_000;
const longestLifeMs = 30 * 60_000;
/** Letters, digits and what keeps groups apart: anything else could draw on a terminal. */
const showable = /^[\x21-\x7e][\x20-\x7e]{0,62}$/;

export async function askForDeviceCode(http: TokenHttp, { found, client }: LoginPlan, signal: AbortSignal): Promise<DeviceCode> {
  const { server, scopes, resource } = found;
  const url = server.deviceEndpoint;
  if (url === undefined) {
    throw notSupported(
      server.issuer,
      'has no login by code on another device',
      'Log in with a browser on this machine: sallyport auth login NAME',
    );
  }
  const body = new URLSearchParams({
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    ...(resource !== undefined && { resource }),
  });
  const headers = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
    ...clientHeaders(client, body),
  };
  const text = { url, method: 'POST', headers, body: body.toString(), signal, timeoutMs: 10_000, maxBytes: 16_384 } as const;
  const answer = await http.request(text);
  const given = jsonObject(answer.body);
  if (answer.status >= 400 && answer.status < 500) {
    throw answeredError(what, textOf(given?.['error']) ?? `HTTP ${answer.status}`, textOf(given?.['error_description']));
  }
  const [deviceCode, userCode, page, pageWithCode] = [
    'device_code',
    'user_code',
    'verification_uri',
    'verification_uri_complete',
  ].map((name) => textOf(given?.[name]));
  if (deviceCode === undefined || userCode === undefined || page === undefined || !showable.test(userCode)) {
    throw malformed(what, `answered with HTTP ${answer.status} and no code to show.`);
  }
  return {
    deviceCode,
    userCode,
    page: ledTo(server.issuer, page),
    ...(pageWithCode !== undefined && { pageWithCode: ledTo(server.issuer, pageWithCode) }),
    intervalMs: milliseconds(given?.['interval']) ?? usualIntervalMs,
    lifeMs: Math.min(milliseconds(given?.['expires_in']) ?? longestLifeMs, longestLifeMs),
  };
}

function milliseconds(seconds: unknown): number | undefined {
  return typeof seconds === 'number' && seconds >= 1 && seconds <= 86_400 ? seconds * 1_000 : undefined;
}

/** Rejects with `auth.refused` when somebody says no, with `auth.login_expired` when nobody says anything. */
export async function waitForDevice(
  http: TokenHttp,
  plan: LoginPlan,
  code: DeviceCode,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<LoginRecord> {
  const until = clock.monotonic() + code.lifeMs;
  let { intervalMs } = code;
  for (;;) {
    await pause(clock, intervalMs, signal);
    if (clock.monotonic() >= until) throw loginExpired();
    const now = clock.now();
    const wish = {
      endpoint: plan.found.server.tokenEndpoint,
      client: plan.client,
      form: { grant_type: grant, device_code: code.deviceCode },
      resource: plan.found.resource,
      now,
      signal,
    };
    const reply = await askForTokens(http, wish).catch((error: unknown) => {
      const passing = error instanceof AppError && (error.code === 'auth.unreachable' || error.code === 'auth.bad_answer');
      if (!passing) throw error;
      return undefined;
    });
    if (reply === undefined) intervalMs = Math.min(2 * intervalMs, 60_000); // RFC 8628 §3.5: less often while it cannot be reached
    else if (reply.kind === 'tokens') return recordOf(plan, reply.tokens, now);
    else if (reply.error === 'slow_down') intervalMs += 5_000;
    else if (reply.error === 'expired_token') throw loginExpired();
    else if (reply.error !== 'authorization_pending') throw answeredError('The token endpoint', reply.error, reply.description);
  }
}

function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => {
      cancel();
      reject(new AppError('unavailable', 'auth.cancelled', 'nobody waits for this login any more'));
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener('abort', aborted);
      resolve();
    });
    if (signal.aborted) aborted();
    else signal.addEventListener('abort', aborted, { once: true });
  });
}
