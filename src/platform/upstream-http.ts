// Opens MCP sessions with upstreams over HTTP: finds out which of the three dialects one speaks, newest first, and remembers it. Knows no
// policy, no pins and no retry.
import { AppError, asAppError } from '../kernel/errors.ts';
import type { Clock, HttpConnector, UpstreamConnection } from '../kernel/ports.ts';
import { createHttpClient } from './http-client.ts';
import type { HttpDeps, HttpOpening } from './http-dialect.ts';
import { routeOf } from './http-exchange.ts';
import { createWithLogin } from './http-login.ts';
import { openHttpLegacy } from './http-legacy.ts';
import { openHttpSession } from './http-session.ts';
import { openHttpStateless } from './http-stateless.ts';

export interface HttpConnectorDeps {
  readonly clock: Clock;
  /** Told to upstreams as `clientInfo`. */
  readonly client: { readonly name: string; readonly version: string };
  /** Longest JSON answer or event; 32 MiB, as over stdio. */
  readonly maxBytes?: number;
}

type Dialect = 'stateless' | 'session' | 'legacy';

/** The probe must not eat the time of what comes after it. */
const probeTimeoutMs = 5_000;
const remembered = 1_024;
const orders: Readonly<Record<Dialect, readonly Dialect[]>> = {
  stateless: ['stateless', 'session', 'legacy'],
  session: ['session', 'stateless', 'legacy'],
  legacy: ['legacy', 'session', 'stateless'],
};

export function createHttpConnector({ clock, client: info, maxBytes = 32 * 1024 * 1024 }: HttpConnectorDeps): HttpConnector {
  const client = createHttpClient();
  const verdicts = new Map<string, Dialect>();

  function remember(key: string, dialect: Dialect): void {
    if (verdicts.size >= remembered) verdicts.clear();
    verdicts.set(key, dialect);
  }

  return {
    async open(target, { startTimeoutMs, signal, listens, host, declares }) {
      const deps = {
        client,
        route: routeOf(target.url, target.addresses),
        clock,
        info,
        headers: Object.entries(target.headers).flat(),
        withLogin: createWithLogin(target.login),
        maxBytes,
      };
      const deadline = clock.monotonic() + startTimeoutMs;
      let told: AppError | undefined;
      for (const dialect of orders[verdicts.get(target.key) ?? 'stateless']) {
        const timeoutMs = Math.max(1, deadline - clock.monotonic());
        try {
          const connection = await attempt(dialect, deps, { signal, timeoutMs, listens, host, declares });
          if (connection === undefined) continue;
          remember(target.key, dialect);
          return connection;
        } catch (thrown) {
          const error = asAppError(thrown);
          // The words of the session dialect are the ones that help; the others are asked only because they might be spoken.
          if (dialect === 'session' || told === undefined) told = error;
          if (!mayBeAnotherDialect(dialect, error) || signal.aborted || clock.monotonic() >= deadline) break;
        }
      }
      throw startFailed(told, startTimeoutMs);
    },
    close: () => client.close(),
  };
}

function attempt(dialect: Dialect, deps: HttpDeps, opening: HttpOpening): Promise<UpstreamConnection | undefined> {
  if (dialect === 'session') return openHttpSession(deps, opening);
  if (dialect === 'legacy') return openHttpLegacy(deps, opening);
  const timeoutMs = Math.min(probeTimeoutMs, Math.ceil(opening.timeoutMs / 3));
  return openHttpStateless(deps, { ...opening, timeoutMs });
}

/** Does this failure leave open that the upstream speaks otherwise? One that cannot be reached or wants a login says nothing about that. */
function mayBeAnotherDialect(dialect: Dialect, { code, data }: AppError): boolean {
  const status = data?.['status'];
  if (code === 'fleet.refused') return typeof status === 'number' && status >= 400 && status !== 429 && status !== 503;
  if (code === 'fleet.protocol') return true;
  return dialect !== 'session' && (code === 'fleet.failed' || code === 'fleet.timeout');
}

/** What says by itself what to do stays; everything else is a start that failed. */
function startFailed(error: AppError | undefined, startTimeoutMs: number): AppError {
  if (error === undefined) return failedStart('it speaks no dialect of MCP over HTTP', error);
  if (error.code === 'fleet.unreachable' || error.code === 'fleet.auth_broken' || error.code === 'fleet.refused') return error;
  if (error.code === 'fleet.timeout') return failedStart(`it did not answer initialize within ${startTimeoutMs} ms`, error);
  return failedStart(error.message.replace(/^The upstream /, 'it ').replace(/\.$/, ''), error);
}

function failedStart(why: string, cause: AppError | undefined): AppError {
  return new AppError('unavailable', 'fleet.start_failed', `The upstream did not start: ${why}.`, {
    hint: 'See that its URL in sallyport.yaml is that of an MCP endpoint.',
    ...(cause?.retryAfterMs === undefined ? {} : { retryAfterMs: cause.retryAfterMs }),
    data: { sent: false, ...(cause === undefined ? {} : { cause: cause.code }) },
    ...(cause === undefined ? {} : { cause }),
  });
}
