// Against programs that stand for secret-tool(1) and security(1): they keep entries in a folder and write down how they were called.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createKeychain } from './keychain.ts';

const slot = '0b6f2f3e-5a0b-4f53-9a36-2f6d0f7a1c11';

// As libsecret's tool does: the secret on standard input, nothing and 1 for an entry that is not there.
const secretTool = `#!/bin/sh
echo "secret-tool $*" >> "$SHELF/calls"
[ "$MOOD" = mute ] && exec sleep 30
[ "$MOOD" = broken ] && { echo "Cannot autolaunch D-Bus without X11 \\$DISPLAY" >&2; exit 1; }
for last; do :; done
case "$1" in
  store) if [ "$MOOD" = forgetful ]; then cat > /dev/null; else cat > "$SHELF/$last"; fi ;;
  lookup) [ -f "$SHELF/$last" ] && cat "$SHELF/$last" || exit 1 ;;
  clear) rm -f "$SHELF/$last" ;;
esac
`;

// As macOS' tool does: commands on standard input with -i, 44 for an entry that is not there.
const security = `#!/bin/sh
echo "security $*" >> "$SHELF/calls"
case "$1" in
  -i) read -r verb update a name rest; set -- $rest; for last; do :; done; printf '%s\\n' "$last" > "$SHELF/$name" ;;
  find-generic-password) [ -f "$SHELF/$3" ] && cat "$SHELF/$3" || exit 44 ;;
  delete-generic-password) rm -f "$SHELF/$3" ;;
esac
`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keychain-'));
  mkdirSync(join(folder, 'shelf'));
  for (const [name, text] of [
    ['secret-tool', secretTool],
    ['security', security],
  ] as const) {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), 0o755);
  }
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const calls = (): string => readFileSync(join(folder, 'shelf', 'calls'), 'utf8');
const bus = { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' };

function keychain(system: 'linux' | 'darwin', environment: Record<string, string> = bus, patienceMs = 10_000) {
  const PATH = `${folder}:/usr/bin:/bin`;
  return createKeychain({ system, patienceMs, environment: { PATH, SHELF: join(folder, 'shelf'), ...environment } });
}

test.each(['linux', 'darwin'] as const)(
  '[VAULT-8] on %s a secret is kept, found again and cleared, and is in no argv',
  async (system) => {
    const kept = keychain(system);
    expect(await kept.read(slot)).toBeUndefined();
    const secret = await kept.make(slot);
    expect(secret).toHaveLength(32);
    expect(Buffer.from((await kept.read(slot)) ?? [])).toEqual(Buffer.from(secret));
    expect(calls()).not.toContain(Buffer.from(secret).toString('base64url'));
    expect(calls()).toContain(slot);
    await kept.remove(slot);
    expect(await kept.read(slot)).toBeUndefined();
  },
);

test('[VAULT-8] a machine without session bus or without the program is told as that, at once', async () => {
  await expect(keychain('linux', {}).read(slot)).rejects.toMatchObject({
    code: 'vault.start_key',
    message: 'The keychain of this user is not there: the daemon has no session bus, as on a server without a desktop.',
  });
  expect(existsSync(join(folder, 'shelf', 'calls'))).toBe(false);
  rmSync(join(folder, 'secret-tool'));
  const alone = createKeychain({ system: 'linux', environment: { ...bus, PATH: folder } });
  await expect(alone.make(slot)).rejects.toThrow('needs the program secret-tool, which is not installed');
  await expect(createKeychain({ system: 'win32', environment: bus }).read(slot)).rejects.toThrow('is not supported on win32');
});

test('[VAULT-8] one that does not answer is given up, and one that is broken says what it said', async () => {
  await expect(keychain('linux', { ...bus, MOOD: 'mute' }, 300).read(slot)).rejects.toThrow('did not answer within');
  await expect(keychain('linux', { ...bus, MOOD: 'broken' }).read(slot)).rejects.toThrow('Cannot autolaunch D-Bus');
});

test('[VAULT-8] one that takes an entry and keeps it nowhere, or holds something else, is noticed', async () => {
  await expect(keychain('linux', { ...bus, MOOD: 'forgetful' }).make(slot)).rejects.toThrow('did not keep what it was given');
  writeFileSync(join(folder, 'shelf', slot), 'something else');
  await expect(keychain('linux').read(slot)).rejects.toThrow('holds something else');
});
