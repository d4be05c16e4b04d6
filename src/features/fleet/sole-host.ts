// Stands for the first client of a process that sessions of one agent share: as long as nobody else used the process, whatever it asks can
// only be about that client; after that nobody can tell. Says what the first client can do, for the handshake.
import type { ClientHost } from '../../kernel/client-host.ts';
import { AppError } from '../../kernel/errors.ts';

export interface SoleHost {
  readonly host: ClientHost;
  /** This client uses the process. */
  met(host: ClientHost): void;
}

export function createSoleHost(first: ClientHost): SoleHost {
  let sole: ClientHost | undefined = first;
  return {
    host: {
      capabilities: first.capabilities,
      info: first.info,
      ask: (request) => (sole === undefined ? Promise.reject(untold()) : sole.ask(request)),
      notify: (method, params) => sole?.notify(method, params),
    },
    met(host) {
      if (host !== sole) sole = undefined;
    },
  };
}

function untold(): AppError {
  return new AppError('unavailable', 'host.gone', 'It cannot be told whose call this is about: several clients use this process.');
}
