// A client that can be asked back, as tests stand behind calls: it keeps what it was asked and told, and answers as it is bid.
import type { ClientHost, HostRequest } from '../../src/kernel/client-host.ts';
import { AppError } from '../../src/kernel/errors.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { UpstreamReply } from '../../src/kernel/ports.ts';

export interface AskedClient extends ClientHost {
  readonly asked: HostRequest[];
  /** Methods and the text of their params. */
  readonly told: [string, string | undefined][];
  /** Instead of an answer at once: nothing before this is called. */
  answer: (request: HostRequest) => Promise<UpstreamReply>;
}

export function resultOf(json: string): UpstreamReply {
  return { kind: 'result', json, value: JSON.parse(json) as JsonObject };
}

export function askedClient(name = 'client', capabilities: JsonObject = { sampling: {}, elicitation: {}, roots: {} }): AskedClient {
  const client: AskedClient = {
    capabilities,
    info: { name, version: '1' },
    asked: [],
    told: [],
    answer: () => Promise.resolve(resultOf(JSON.stringify({ by: name }))),
    ask(request) {
      client.asked.push(request);
      const { promise, reject } = Promise.withResolvers<never>();
      const cancel = (): void => reject(new AppError('unavailable', 'fleet.cancelled', 'It was taken back.'));
      request.signal.addEventListener('abort', cancel, { once: true });
      return Promise.race([client.answer(request), promise]);
    },
    notify: (method, params) => void client.told.push([method, params]),
  };
  return client;
}
