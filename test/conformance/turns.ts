// How the clients of one suite run keep out of each other's way: the suite starts all of them at once, each waits until all are there and
// then for its turn, so that no deadline of a client is about a crowded machine.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const pollMs = 50;

/** `folder` is empty when the run begins; `clients` is how many there will be. */
export interface Turns {
  readonly folder: string;
  readonly clients: number;
}

export function arrive({ folder }: Turns): void {
  writeFileSync(join(folder, String(process.pid)), '');
}

/** Until this process ends. */
export async function takeTurn({ folder, clients }: Turns): Promise<void> {
  while (readdirSync(folder).length < clients) await delay(pollMs);
  const turn = `${folder}-taken`;
  for (;;) {
    try {
      // Only one can make it.
      mkdirSync(turn);
      process.on('exit', () => rmSync(turn, { recursive: true }));
      return;
    } catch {
      await delay(pollMs);
    }
  }
}
