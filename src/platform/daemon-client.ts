// HTTP to the running daemon over its unix socket. Turns its error bodies back into the AppErrors they were, and the absence of a
// daemon into a sentence that says how to start one.
import { request } from 'node:http';
import type { Proof } from '../kernel/caller.ts';
import type { CarriedSecrets } from '../kernel/carried-secret.ts';
import type { Statement } from '../kernel/dispatch.ts';
import { AppError, type ErrorKind } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';

export interface DaemonClient {
  status(): Promise<JsonObject>;
  prepare(operation: string, input: unknown): Promise<Statement>;
  operate(operation: string, input: unknown, proof?: Proof, secrets?: CarriedSecrets): Promise<unknown>;
}

interface DaemonClientDeps {
  /** Of the unix socket. */
  readonly socketPath: string;
  /** For messages. */
  readonly home: string;
  /** Longest wait for a whole answer; a waiting operation answers by two minutes. */
  readonly timeoutMs?: number;
}

/** Status waits for nobody; a daemon that takes longer hangs. */
const statusPatienceMs = 5_000;
const maxAnswerBytes = 64 * 1024 * 1024;

export const daemonAbsent = 'daemon.absent';

/** Rejects with `daemon.absent`, `daemon.silent`, `daemon.denied` or `daemon.garbled` (kind unavailable) besides the daemon's own errors. */
export function createDaemonClient({ socketPath, home, timeoutMs = 150_000 }: DaemonClientDeps): DaemonClient {
  async function ask(method: 'GET' | 'POST', path: string, body?: unknown, patienceMs = timeoutMs): Promise<unknown> {
    const { status, text } = await exchange(
      socketPath,
      home,
      patienceMs,
      method,
      path,
      body === undefined ? undefined : JSON.stringify(body),
    );
    const answer = parseAnswer(text);
    if (status < 300) return answer;
    throw errorOf(answer, status);
  }
  return {
    status: async () => (await ask('GET', '/v1/status', undefined, Math.min(timeoutMs, statusPatienceMs))) as JsonObject,
    prepare: async (operation, input) =>
      (await ask('POST', `/v1/operations/${encodeURIComponent(operation)}/prepare`, { input })) as Statement,
    operate: async (operation, input, proof, secrets) => {
      const answer = (await ask('POST', `/v1/operations/${encodeURIComponent(operation)}`, {
        input,
        ...(proof === undefined ? {} : { proof }),
        ...(secrets === undefined ? {} : { secrets: secretsText(secrets) }),
      })) as {
        output: unknown;
      };
      return answer.output;
    },
  };
}

/** JSON carries texts; this copy of a value is one that nobody can wipe. */
function secretsText(secrets: CarriedSecrets): object {
  const text = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64url');
  return Object.fromEntries(
    Object.entries(secrets).map(([name, { value, salt }]) => [name, { value: text(value), salt: text(salt) }]),
  );
}

function exchange(
  socketPath: string,
  home: string,
  timeoutMs: number,
  method: string,
  path: string,
  body: string | undefined,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const signal = AbortSignal.timeout(timeoutMs);
    const asking = request({ socketPath, method, path, headers: { host: 'sallyport', ...headers }, signal }, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > maxAnswerBytes) response.destroy(new Error('answer too large'));
        else chunks.push(chunk);
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 500, text: Buffer.concat(chunks).toString('utf8') }));
      response.on('error', (error) => reject(connectionFailure(error, home, signal.aborted)));
    });
    asking.on('error', (error) => reject(connectionFailure(error, home, signal.aborted)));
    asking.end(body);
  });
}

function connectionFailure(error: NodeJS.ErrnoException, home: string, timedOut: boolean): AppError {
  if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED' || error.code === 'ENOTDIR') {
    return new AppError('unavailable', daemonAbsent, `no daemon is running for ${home}`, {
      hint: 'Start it with: sallyport up',
      cause: error,
    });
  }
  if (error.code === 'EACCES' || error.code === 'EPERM') {
    return new AppError('unavailable', 'daemon.denied', `the daemon of ${home} belongs to another user`, {
      hint: 'Run the command as the user who started it, or set SALLYPORT_HOME.',
      cause: error,
    });
  }
  if (timedOut) {
    return new AppError('unavailable', 'daemon.silent', `the daemon of ${home} does not answer`, {
      hint: 'Look at its log; restart it with: sallyport down, then sallyport up.',
      cause: error,
    });
  }
  return new AppError(
    'unavailable',
    'daemon.lost',
    `the connection to the daemon of ${home} broke (${error.code ?? error.message})`,
    {
      hint: 'It may have stopped. See: sallyport status',
      cause: error,
    },
  );
}

function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw garbled(cause);
  }
}

const kinds: readonly string[] = [
  'invalid',
  'unauthenticated',
  'denied',
  'not_found',
  'conflict',
  'limited',
  'unavailable',
  'internal',
] satisfies ErrorKind[];

function errorOf(answer: unknown, status: number): AppError {
  const { error } = (answer ?? {}) as {
    error?: { kind?: string; code?: string; message?: string; hint?: string; retry_after_s?: number };
  };
  if (error === undefined || !kinds.includes(error.kind ?? '')) return garbled(new Error(`status ${status}`));
  return new AppError(error.kind as ErrorKind, error.code ?? 'daemon.unknown', error.message ?? 'refused', {
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    ...(error.retry_after_s === undefined ? {} : { retryAfterMs: error.retry_after_s * 1000 }),
  });
}

function garbled(cause: unknown): AppError {
  return new AppError('unavailable', 'daemon.garbled', 'what listens on the local socket does not answer like a Sallyport daemon', {
    hint: 'If Sallyport was just updated, restart the daemon: sallyport down, then sallyport up.',
    cause,
  });
}
