// `npm run demo`: one governed day in a minute. Real daemon, real upstream servers, a real MCP client; a throw-away home.
// Every step asserts what it shows; the first surprise ends the demo with exit code 1.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { openHouse, type House, type Said } from './house.ts';

const policies = `version: 1
limits:
  deny:
    - "files:call:move_file"          # nobody moves files, whatever a rule says
agents:
  scout:
    default_ttl: 15m
    capabilities:
      - match: "everything:call:{echo,get-sum}"
        effect: allow
      - match: "*:call:*"             # what a server declares read-only passes
        effect: allow
        annotations: { readOnlyHint: true }
      - match: "files:call:*"         # the rest of the file tools ask a person
        effect: ask
`;

const bold = (text: string): string => (process.stdout.isTTY ? `\u001b[1m${text}\u001b[0m` : text);
let steps = 0;
const step = (title: string): void => console.log(`\n${bold(`${(steps += 1)}. ${title}`)}`);
const show = (text: string): void => console.log(text.replace(/^/gm, '   '));

const server = (name: string): string =>
  fileURLToPath(new URL(`../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url));
const weather = fileURLToPath(new URL('./weather-server.ts', import.meta.url));

function ok(said: Said): string {
  assert.equal(said.code, 0, said.stderr || said.stdout);
  return said.stdout.trim();
}

interface Answer {
  readonly isError?: boolean;
  readonly content: { readonly type: string; readonly text?: string }[];
}

async function connect(house: House, token: string): Promise<Client> {
  const client = new Client({ name: 'demo-agent', version: '1.0.0' });
  const headers = { authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL(house.agentUrl), { requestInit: { headers } });
  await client.connect(transport);
  return client;
}

async function call(client: Client, name: string, args: Record<string, unknown>): Promise<{ text: string; refused: boolean }> {
  const answer = (await client.callTool({ name, arguments: args })) as Answer;
  return { text: answer.content.map(({ text }) => text ?? '').join('\n'), refused: answer.isError === true };
}

async function tell(house: House): Promise<void> {
  step('A daemon with its own home, and three upstream servers the operator signed for');
  const { token } = JSON.parse(ok(await house.operator('agent', 'add', 'scout', '--json'))) as { token: string };
  ok(await house.operator('upstream', 'add', 'everything', '--', process.execPath, server('everything'), 'stdio'));
  ok(await house.operator('upstream', 'add', 'files', '--', process.execPath, server('filesystem'), house.scratch));
  ok(await house.operator('upstream', 'add', 'weather', '--', process.execPath, weather));
  show(ok(await house.operator('upstream', 'ls')));

  step('An agent connects with its token and sees what it may call or ask for');
  const client = await connect(house, token);
  const names = (await client.listTools()).tools.map(({ name }) => name);
  show(`${names.length} tools, among them: ${names.filter((name) => !name.startsWith('everything')).join(', ')}`);
  assert.ok(names.includes('files__write_file') && !names.includes('files__move_file'), 'a denied tool is never listed');
  show('files__move_file is not among them: a hard limit covers it.');

  step('A call the policy allows simply runs');
  const echoed = await call(client, 'everything__echo', { message: 'hello through the gate' });
  assert.equal(echoed.refused, false, echoed.text);
  show(`everything__echo → ${echoed.text}`);

  step('A call that needs a person: it escalates, the operator signs, the very same call runs once');
  const note = { path: join(house.scratch, 'note.txt'), content: 'written with permission' };
  const asked = await call(client, 'files__write_file', note);
  assert.ok(asked.refused && !existsSync(note.path));
  show((JSON.parse(asked.text) as { message: string }).message);
  const [pending] = JSON.parse(ok(await house.operator('approvals', 'list', '--json'))) as { approval_id: string }[];
  assert.ok(pending);
  show(ok(await house.operator('approvals', 'show', pending.approval_id)));
  ok(await house.operator('approve', pending.approval_id));
  const other = await call(client, 'files__write_file', { ...note, content: 'something else' });
  assert.ok(other.refused, 'other arguments are another question');
  show('With other arguments: asked again, nothing written.');
  const written = await call(client, 'files__write_file', note);
  assert.equal(written.refused, false, written.text);
  assert.equal(readFileSync(note.path, 'utf8'), note.content);
  show(`With the approved arguments: ${written.text}`);

  step('A hard limit blocks, whether or not the tool exists');
  const moved = await call(client, 'files__move_file', { source: note.path, destination: `${note.path}.moved` });
  assert.ok(moved.refused && existsSync(note.path));
  show(`kind ${(JSON.parse(moved.text) as { kind: string }).kind}: nothing was moved.`);

  step('A shell of the same user without the passphrase tries to approve');
  const [open] = JSON.parse(ok(await house.stranger('approvals', 'list', '--json'))) as { approval_id: string }[];
  assert.ok(open);
  const tried = await house.stranger('approve', open.approval_id);
  assert.notEqual(tried.code, 0);
  show(tried.stderr.trim());
  const forged = await forge(house, open.approval_id);
  assert.match(forged, /"operator\.proof_invalid"/);
  show(`A made-up signature sent straight to the socket: ${forged}`);

  step('A tool changes its definition after it was accepted: it is quarantined');
  const first = await call(client, 'weather__forecast', { city: 'Lisbon' });
  assert.equal(first.refused, false, first.text);
  show(`Before: ${first.text}`);
  const changed = await eventually(async () => {
    const again = await call(client, 'weather__forecast', { city: 'Lisbon' });
    return again.refused ? again.text : undefined;
  });
  show(`After:  ${(JSON.parse(changed) as { message: string }).message}`);
  show(ok(await house.operator('tools', 'review', 'weather')));
  await client.close();

  step('The record: the whole log verifies, and one record is proved offline');
  const report = JSON.parse(ok(await house.operator('audit', 'verify', '--json'))) as { ok: boolean; records: number; key: string };
  assert.equal(report.ok, true);
  show(`${report.records} records, every hash, signature and checkpoint holds.`);
  const bundle = join(house.folder, 'bundle');
  ok(await house.operator('audit', 'export', bundle));
  const verdict = execFileSync(process.execPath, [join(bundle, 'verify-audit.mjs'), bundle], { encoding: 'utf8' });
  show(verdict.trim());
  const page = JSON.parse(ok(await house.operator('audit', 'query', '--event', 'approval.approved', '--json'))) as {
    records: { id: string }[];
  };
  const { proof } = JSON.parse(ok(await house.operator('audit', 'prove', page.records[0]?.id ?? '', '--json'))) as {
    proof: string;
  };
  const proofFile = join(house.folder, 'approval.tlog-proof');
  writeFileSync(proofFile, proof);
  show(
    execFileSync(process.execPath, [join(bundle, 'verify-audit.mjs'), proofFile, '--key', report.key], { encoding: 'utf8' }).trim(),
  );
}

/** What an attacker at the socket can do: post a proof nobody signed. */
async function forge(house: House, id: string): Promise<string> {
  const { request } = await import('node:http');
  const proof = { challenge: 'x'.repeat(43), method: 'passphrase', keyId: '0'.repeat(16), signature: 'A'.repeat(86) };
  const body = JSON.stringify({ input: { id }, proof });
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        socketPath: house.socket,
        path: '/v1/operations/approvals.approve',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
      },
      (answer) => {
        let text = '';
        answer
          .setEncoding('utf8')
          .on('data', (chunk: string) => (text += chunk))
          .on('end', () => resolve(text));
      },
    );
    outgoing.on('error', reject).end(body);
  });
}

async function eventually<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 50; tries += 1) {
    const value = await attempt();
    if (value !== undefined) return value;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('the expected answer did not come within 5 s');
}

const startedAt = Date.now();
const house = await openHouse(policies);
let failure: unknown;
try {
  await tell(house);
} catch (thrown) {
  failure = thrown;
}
const { pid } = house;
const exitCode = await house.close();
if (failure !== undefined) {
  console.error(failure);
  process.exit(1);
}
assert.equal(exitCode, 0);
assert.throws(() => process.kill(pid, 0), 'the daemon is gone');
step(`Everything stopped, nothing left running (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`);
