// A raw client at an agent's door, over HTTP or over the stdio bridge.
import { PassThrough } from 'node:stream';
import { runBridge } from '../../src/wire/bridge.ts';
import { openHttp, overLines, type OpenedClient, type RawIdentity } from './raw-client.ts';
import { silentLog } from './silent-log.ts';

export type RawDoor = 'http' | 'bridge';

/** `url`: the endpoint of the daemon. */
export async function openDoor(door: RawDoor, url: string, token: string, identity: RawIdentity): Promise<OpenedClient> {
  if (door === 'http') return openHttp(url, { authorization: `Bearer ${token}` }, identity);
  const [input, output] = [new PassThrough(), new PassThrough()];
  const done = runBridge({ input, output, endpoint: { url }, token, log: silentLog() });
  const lines = {
    from: output,
    write: (line: string) => void input.write(`${line}\n`),
    ended: done.then(() => 'the bridge is done'),
    async close() {
      input.end();
      await done;
    },
  };
  return overLines(lines, identity);
}
