// Preloaded into every peer: what it listens on is a free port of 127.0.0.1, which it tells its starter over IPC as `{listening: port}`,
// and it finds no other machine by name. Two of the peers have no option for either. Knows nothing of MCP.
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { Server, type AddressInfo } from 'node:net';

type Listen = (this: Server, ...args: readonly unknown[]) => Server;
type Done = (error: Error | null, addresses: readonly { address: string; family: number }[] | string, family?: number) => void;

const prototype = Server.prototype as unknown as { listen: Listen };
const listen = prototype.listen;

prototype.listen = function listenOnLoopback(this: Server, ...args) {
  const listening = args.find((value): value is () => void => typeof value === 'function');
  this.once('listening', () => {
    // One that only tried whether a port is free is closed by now.
    const address = this.address() as AddressInfo | null;
    if (address !== null) process.send?.({ listening: address.port });
  });
  return listen.call(this, { port: 0, host: '127.0.0.1' }, listening);
};

/** `localhost` is answered from here, a bare address never comes here, and nothing else exists. */
function lookup(name: string, options: unknown, callback?: Done): void {
  const done = (typeof options === 'function' ? options : callback) as Done;
  const all = typeof options === 'object' && options !== null && 'all' in options && options.all === true;
  const refused = Object.assign(new Error(`no name but localhost in the benchmark: ${name}`), { code: 'ENOTFOUND' });
  if (name !== 'localhost' && name !== '127.0.0.1') process.nextTick(done, refused);
  else if (all) process.nextTick(done, null, [{ address: '127.0.0.1', family: 4 }]);
  else process.nextTick(done, null, '127.0.0.1', 4);
}

// Nobody is left to stop it when its starter is gone; the listener alone would keep it running.
process.on('disconnect', () => process.exit());
process.channel?.unref();
Object.assign(dns, { lookup });
syncBuiltinESMExports();
