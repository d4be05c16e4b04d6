// A client that can be asked, without one: answers as a test says, and keeps what it was asked and told. Keeps the traps of the real ones: a
// question that is taken back rejects with `fleet.cancelled`, one to a client that is gone with `host.gone`.
import type { ClientHost, HostRequest } from '../../src/kernel/client-host.ts';
import { AppError } from '../../src/kernel/errors.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { UpstreamReply } from '../../src/kernel/ports.ts';

export interface FakeHost extends ClientHost {
  readonly asked: { readonly method: string; readonly params: JsonObject; readonly signal: AbortSignal }[];
  readonly told: { readonly method: string; readonly params: JsonObject }[];
  /** `undefined`: never answers by itself. */
  answers: (method: string, params: JsonObject) => JsonObject | AppError | undefined;
  gone: boolean;
}

export const everything: JsonObject = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: { listChanged: true },
};

export function fakeHost(
  capabilities: JsonObject = everything,
  answers: FakeHost['answers'] = () => ({ action: 'accept' }),
): FakeHost {
  const host: FakeHost = {
    capabilities,
    info: { name: 'fake', version: '1' },
    asked: [],
    told: [],
    answers,
    gone: false,
    ask: (request) => ask(host, request),
    notify: (method, params = '{}') => void host.told.push({ method, params: JSON.parse(params) as JsonObject }),
  };
  return host;
}

/** An error as the client answers it. */
export function refuses(code: number, message: string): AppError {
  return new AppError('invalid', 'fake.refused', message, { data: { code } });
}

async function ask(host: FakeHost, { method, params = '{}', signal }: HostRequest): Promise<UpstreamReply> {
  if (host.gone) throw new AppError('unavailable', 'host.gone', 'The client is gone.');
  const value = JSON.parse(params) as JsonObject;
  host.asked.push({ method, params: value, signal });
  const answer = host.answers(method, value);
  if (answer instanceof AppError) {
    const code = Number(answer.data?.['code']);
    return { kind: 'error', code, json: JSON.stringify({ code, message: answer.message }) };
  }
  if (answer !== undefined) return { kind: 'result', value: answer, json: JSON.stringify(answer) };
  return new Promise((_resolve, reject) => {
    const cancelled = (): void => reject(new AppError('unavailable', 'fleet.cancelled', 'The question was taken back.'));
    if (signal.aborted) cancelled();
    signal.addEventListener('abort', cancelled, { once: true });
  });
}
