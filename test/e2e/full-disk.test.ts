// The disk under the record is full: what must be recorded is refused, look-ups answer, and when there is room it goes on by itself
// with nothing lost. A small tmpfs stands in for the disk, which takes root on Linux.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { connectAgent } from '../support/agent-client.ts';
import { addAgent, addUpstream, decide, openHouse, recorded, until, type House } from '../support/running-daemon.ts';

const policies = `version: 1
agents:
  coder:
    capabilities:
      - match: "fix:call:{echo,hit}"
        effect: allow
`;
const mountable = process.platform === 'linux' && process.getuid?.() === 0 && canMount();
if (!mountable) console.warn('SKIPPED: a full disk under the audit log needs root on Linux to mount a small tmpfs.');

function canMount(): boolean {
  const probe = '/tmp/sallyport-mount-probe';
  mkdirSync(probe, { recursive: true });
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', probe]);
  if (status === 0) spawnSync('umount', [probe]);
  rmSync(probe, { recursive: true, force: true });
  return status === 0;
}

/** Until the disk is full to the last byte. */
function fill(house: House): void {
  for (const size of [1 << 16, 1 << 12, 1]) {
    try {
      for (let at = 0; at < 4_096; at += 1) {
        writeFileSync(house.path('audit', 'filler'), Buffer.alloc(size), { flag: 'a' });
        if (statfsSync(house.path('audit')).bfree === 0 && size === 1) break;
      }
    } catch {
      // Full for this size.
    }
  }
}

test.skipIf(!mountable)(
  '[AUD-12] a full disk refuses what must be recorded, answers look-ups, and recovers by itself with nothing lost',
  async () => {
    const house = await openHouse({ policies });
    mkdirSync(house.path('audit'), { mode: 0o700 });
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m,mode=0700', 'tmpfs', house.path('audit')]).status).toBe(0);
    onTestFinished(() => void spawnSync('umount', ['-l', house.path('audit')]));

    const daemon = await house.up();
    const token = await addAgent(house, daemon, 'coder');
    const counter = house.path('hits');
    await addUpstream(house, daemon, 'fix', 'counting', counter);
    const agent = await connectAgent(daemon.agent_url, token);
    const made: string[] = [];
    const hit = async (tag: string): Promise<string> => {
      const { text, isError } = await agent.call('fix__hit', { tag });
      if (!isError) made.push(`hit ${tag}\n`);
      return text;
    };
    /** The last block of the log's file may take a few more records. */
    const hitUntilRefused = async (): Promise<string> => {
      for (let at = 0; at < 100; at += 1) {
        const text = await hit(`${made.length}`);
        if (text !== 'hit') return text;
      }
      return 'never';
    };
    expect(await hit('before')).toBe('hit');

    fill(house);
    expect(await hitUntilRefused()).toMatch(/Nothing can be recorded, so nothing is done: the disk is full/);
    await expect(decide(house, daemon, 'agents.add', { name: 'more' })).rejects.toMatchObject({ code: 'audit.unavailable' });
    expect((await agent.call('scopegate_can_i', { capability: 'fix:call:hit' })).isError).toBe(false);
    expect((await agent.call('scopegate_list_capabilities')).isError).toBe(false);
    expect(await agent.toolNames()).toContain('fix__hit');
    expect(await daemon.line.status()).toMatchObject({ audit_available: false });
    expect((await house.shell(['agent', 'ls'])).code).toBe(0);

    rmSync(house.path('audit', 'filler'));
    await until(async () => (await daemon.line.status())['audit_available'] === true, 'it records again');
    expect(await hit('after')).toBe('hit');
    await decide(house, daemon, 'agents.add', { name: 'more' });
    expect((await recorded(daemon, 'log.recovered'))[0]).toMatchObject({ facts: { reason: 'the disk is full' } });
    expect(await daemon.line.operate('audit.verify', {})).toMatchObject({ ok: true });
    expect(readFileSync(counter, 'utf8')).toBe(`start\n${made.join('')}`);

    fill(house);
    expect(await hitUntilRefused()).toContain('the disk is full');
    await daemon.kill();
    expect((await house.upAndEnd()).stderr).toMatch(/disk is full|no space|ENOSPC/i);
    rmSync(house.path('audit', 'filler'));
    const again = await house.up();
    expect(await again.line.operate('audit.verify', {})).toMatchObject({ ok: true });
    expect(((await again.line.operate('agents.list', {})) as unknown[]).length).toBe(2);
    await again.stop();
  },
  60_000,
);
