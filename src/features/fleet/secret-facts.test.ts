import { describe, expect, test } from 'vitest';
import { fixtureCommand } from '../../../test/support/fixture-upstream.ts';
import { failure, fleetHome, operate, settingsText } from '../../../test/support/fleet-home.ts';
import { parseSpec } from './spec.ts';

const run = fixtureCommand('echo');
const url = 'https://api.example.org/mcp';
const token = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';

async function opened(text = '') {
  const home = await fleetHome(text);
  return { home, fleet: await home.open() };
}

describe('[INJECT-7] whoever accepts an upstream reads', () => {
  test.each([
    [{ url, bearer: 'api_token' }, ["secret 'api_token' will be sent to https://api.example.org in the header authorization"]],
    [
      { url, secretHeader: { 'X-Api-Key': 'api_key' } },
      ["secret 'api_key' will be sent to https://api.example.org in the header x-api-key"],
    ],
    [{ run, bearer: 'api_token' }, [`secret 'api_token' will be given to ${process.execPath}`]],
    [
      { run, envSecret: { A: 'one', B: 'two' } },
      [`secret 'one' will be given to ${process.execPath} in A`, `secret 'two' will be given to ${process.execPath} in B`],
    ],
    [
      { url: 'http://far.example.org/mcp', allowInsecure: true, bearer: 'api_token' },
      [
        "secret 'api_token' will be sent to http://far.example.org in the header authorization, UNENCRYPTED: whoever is on the way reads it",
      ],
    ],
  ])('which secret goes where: %j', async (wanted, sentences) => {
    const { fleet } = await opened();
    const { shown, output } = await operate(fleet, 'fleet.add', { name: 'up', ...wanted });
    const { secrets } = shown as { secrets: string[] };
    // Nothing is there to be sent, so nothing is dialled either.
    expect(output).toMatchObject({ connection: { ok: false, error: expect.stringContaining('not in the vault') as string } });
    expect(secrets.slice(0, sentences.length)).toEqual(sentences);
    expect(secrets.slice(sentences.length).every((sentence) => sentence.includes('is not in the vault yet'))).toBe(true);
  });

  test('who else has it, and what was accepted covers names and places', async () => {
    const { fleet, home } = await opened(settingsText());
    const first = await operate(fleet, 'fleet.add', { name: 'one', run, envSecret: { T: 'api_token' } });
    expect(first.output).toMatchObject({
      accepted: true,
      connection: { ok: false, error: expect.stringContaining("'api_token'") as string },
    });
    const second = await operate(fleet, 'fleet.add', { name: 'two', url: 'http://127.0.0.1:9/mcp', bearer: 'api_token' });
    expect(second.shown).toMatchObject({
      connects: { auth: { type: 'bearer', secretRef: 'api_token' } },
      secrets: expect.arrayContaining(["secret 'api_token' is used for one as well"]) as string[],
    });
    expect(home.settings()).toContain('secretRef: api_token');
    // The digest covers it: another name in its place is another decision.
    home.writeSettings(home.settings().replace('T: api_token', 'T: other_token'));
    await fleet.reload();
    expect(fleet.status().find(({ name }) => name === 'one')?.state).toBe('unaccepted');
  });

  test.each([
    ['two ways to log in', { url, bearer: 'a', secretHeader: { 'X-K': 'b' } }, 'in one way'],
    ['a variable for an upstream over HTTP', { url, envSecret: { A: 'b' } }, 'bearer'],
    ['a header for a program', { run, secretHeader: { 'X-K': 'b' } }, 'upstreams over HTTP'],
    ['a header of the gateway’s own', { url, secretHeader: { 'Mcp-Session-Id': 'b' } }, 'writes itself'],
  ])('what cannot be: %s', async (_, wanted, words) => {
    const { fleet } = await opened();
    const error = await failure(operate(fleet, 'fleet.add', { name: 'up', ...wanted }));
    expect(error.message).toContain(words);
  });

  test.each([
    [{ auth: { type: 'env', env: { NODE_OPTIONS: 'a' } } }, 'steers programs'],
    [{ auth: { type: 'env', env: { SALLYPORT_HOME: 'a' } } }, 'steers programs'],
    [{ auth: { type: 'env', env: { TOKEN: 'a' } }, env: { TOKEN: 'b' } }, 'under env'],
    [{ auth: { type: 'env', env: {} } }, 'names no variable'],
    [
      { auth: { type: 'bearer', secretRef: 'a', header: 'X-Team' }, transport: { kind: 'http', url, headers: { 'x-team': 'b' } } },
      'transport.headers',
    ],
  ])('that one place has one value, and none steers programs: %j', (more, words) => {
    const transport = { kind: 'stdio', command: 'node' };
    const parsed = parseSpec({ name: 'up', transport, ...more }, 'upstreams[0]');
    expect(parsed).toMatchObject({ ok: false, problem: expect.stringContaining(words) as string });
  });

  test('that a value is no name, without reading it again', () => {
    const transport = { kind: 'http', url };
    for (const [auth, words] of [
      [{ type: 'bearer', secretRef: token }, 'secretRef looks like a raw secret value. Pass the NAME of a secret'],
      [{ type: 'oauth2', secretRef: 'x'.repeat(41) }, 'secretRef looks like a raw secret value.'],
      [{ type: 'env', env: { A: 'fine', B: token } }, "env value 'B' looks like a raw secret."],
      [{ type: 'bearer', secretRef: 'Not A Name' }, 'must be the name of a secret, not its value'],
    ] as const) {
      const parsed = parseSpec({ name: 'up', transport, auth }, 'upstreams[0]');
      expect(parsed).toMatchObject({ ok: false, problem: expect.stringContaining(words) as string });
      expect(JSON.stringify(parsed)).not.toMatch(/16C7e42F|Not A Name|x{41}/);
    }
  });
});
