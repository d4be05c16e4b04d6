// Names looked up for connections that may lead to some addresses only. It is asked at every connection, so a name that is turned towards
// another place after somebody looked at it leads nowhere (DNS rebinding). An address in a URL is never looked up; its entry was checked.
import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { mayConnect, type Addresses } from '../features/fleet/model.ts';
import { addressClass } from '../lib/ip-address.ts';

class RuledOut extends Error {
  readonly code = 'EADDRRULED';
}

/** One answer that is ruled out refuses all of them: whoever mixes both kinds is trying something. */
export function guardedLookup(addresses: Addresses, resolve: typeof lookup = lookup): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      const bad =
        error === null ? found.find(({ address }) => !mayConnect(addressClass(address) ?? 'reserved', addresses)) : undefined;
      const fault = error ?? (bad === undefined ? null : new RuledOut(words(bad.address, addresses)));
      if (fault !== null) return callback(fault, []);
      const [first] = found;
      if (options.all === true || first === undefined) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };
}

function words(address: string, addresses: Addresses): string {
  const kind = addressClass(address) ?? 'reserved';
  return `its name leads to ${address}, which is ${kind.replace('_', '-')}, and its entry says 'addresses: ${addresses}'`;
}
