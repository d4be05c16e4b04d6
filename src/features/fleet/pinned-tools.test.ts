import { describe, expect, test } from 'vitest';
import {
  acceptAll,
  callTool,
  failure,
  fleetHome,
  openedFleet,
  settingsText,
  textOf,
  until,
} from '../../../test/support/fleet-home.ts';
import type { UpstreamConnector } from '../../kernel/ports.ts';
import type { Fleet, FleetControl } from './fleet.ts';

const signal = new AbortController().signal;

/** Starts for as long as it is let. */
const neverOpens: UpstreamConnector = {
  open: (_spec, options) =>
    new Promise((_resolve, reject) => options.signal.addEventListener('abort', () => reject(new Error('given up')))),
};

describe('[FLEET-7] definitions', () => {
  test('are pinned by the first listing and a change is quarantined until it is accepted, at run time and over restarts', async () => {
    const home = await fleetHome(settingsText({ name: 'up', behaviour: 'flip-schema' }));
    let fleet: Fleet & FleetControl = await home.open();
    await acceptAll(fleet);
    let changes = 0;
    fleet.onCatalogChanged(() => (changes += 1));
    expect(home.audit.of('tool.pinned').map(({ facts }) => facts)).toMatchObject([{ upstream: 'up', count: 5 }]);

    const decided = fleet.resolve('up', 'target');
    await callTool(fleet, 'up', 'flip');
    if (decided.kind !== 'tool') throw new Error('no tool');
    // The call was decided on the old definition; the list is stale already.
    expect(
      await failure(fleet.call({ session: 's', tool: decided.tool, args: {}, rest: {}, signal, onProgress: undefined })),
    ).toMatchObject({
      code: 'fleet.quarantined',
      data: { sent: false },
    });
    expect(fleet.resolve('up', 'target').kind).toBe('quarantined');
    expect(fleet.resolve('up', 'extra').kind).toBe('quarantined');
    expect(fleet.catalog().map(({ tool }) => tool)).toEqual(['flip', 'flop', 'restore', 'steady']);
    expect(changes).toBeGreaterThan(0);
    expect(home.audit.of('tool.quarantined').map(({ facts }) => [facts?.['tool'], facts?.['change']])).toEqual([
      ['target', 'changed'],
      ['extra', 'new'],
    ]);
    const [extra, target] = fleet.reviews('up');
    expect(extra).toMatchObject({ tool: 'extra', change: 'new' });
    expect(target).toMatchObject({ tool: 'target', change: 'changed', acceptedHash: decided.tool.hash });

    await fleet.acceptTools('up', [{ tool: 'target', hash: target?.offeredHash ?? '' }], {
      actor: 'operator',
      proof: { key_id: 'k' },
    });
    expect(fleet.resolve('up', 'target')).toMatchObject({ kind: 'tool', tool: { hash: target?.offeredHash } });
    expect(home.audit.of('tool.accepted')).toMatchObject([
      { actor: 'operator', facts: { tool: 'target', previous: decided.tool.hash, proof: { key_id: 'k' } } },
    ]);
    expect(home.audit.of('tool.quarantined')).toHaveLength(2);

    await fleet.close();
    fleet = await home.open();
    await fleet.settled();
    // The process starts with the original again: that is no longer the accepted one.
    expect(fleet.resolve('up', 'target').kind).toBe('quarantined');
    expect(home.audit.of('tool.pinned')).toHaveLength(1);
  });

  test('are listed from the pins while the upstream is down, and acceptance takes the shown hash only', async () => {
    const home = await fleetHome(settingsText({ name: 'up', behaviour: 'flip-schema' }));
    const fleet = await home.open();
    await acceptAll(fleet);
    await callTool(fleet, 'up', 'flip');
    await until(() => fleet.resolve('up', 'extra').kind === 'quarantined');
    const wrong = failure(fleet.acceptTools('up', [{ tool: 'extra', hash: 'f'.repeat(64) }], { actor: 'operator' }));
    expect((await wrong).code).toBe('fleet.changed');
    await fleet.close();
    const again = await home.open({ connector: neverOpens });
    expect(again.catalog().map(({ tool }) => tool)).toEqual(['flip', 'flop', 'restore', 'steady']);
    expect(again.resolve('up', 'target').kind).toBe('quarantined');
  });

  test('that change without a word are found by the live probe', async () => {
    const { fleet } = await openedFleet({ name: 'up', behaviour: 'flip-schema' });
    await callTool(fleet, 'up', 'flop');
    expect(fleet.resolve('up', 'target').kind).toBe('tool');
    await fleet.diagnose(signal);
    expect(fleet.resolve('up', 'target').kind).toBe('quarantined');
    await callTool(fleet, 'up', 'restore');
    await until(() => fleet.resolve('up', 'target').kind === 'tool');
    expect(fleet.reviews('up')).toEqual([]);
  });

  test('are not served when the first listing cannot be recorded, and a quarantine bites even then', async () => {
    const { fleet, home } = await openedFleet({ name: 'up', behaviour: 'flip-schema' });
    await callTool(fleet, 'up', 'flop');
    home.audit.fail(true);
    await fleet.diagnose(signal);
    expect(fleet.resolve('up', 'target').kind).toBe('quarantined');
    home.audit.fail(false);
    await fleet.diagnose(signal);
    expect(home.audit.of('tool.quarantined')).toHaveLength(2);
    await fleet.diagnose(signal);
    expect(home.audit.of('tool.quarantined')).toHaveLength(2);
  });

  test('of an upstream that never stops saying that they changed can still be called', async () => {
    const { fleet } = await openedFleet({ name: 'up', behaviour: 'restless-list' });
    expect(textOf(await callTool(fleet, 'up', 'echo', { message: 'calm' }))).toBe('calm');
  });
});
