// The connector the daemon opens HTTP upstreams with, asked for what a scenario of the suite wants to see. Plays the agent behind the
// gateway where a scenario needs one, and nothing of the gateway itself.
import type { ClientHost } from '../../src/kernel/client-host.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { UpstreamClient, UpstreamConnection, UpstreamReply } from '../../src/kernel/ports.ts';
import { readDefinition } from '../../src/features/fleet/definition.ts';
import { createClock } from '../../src/platform/clock.ts';
import { createDigest } from '../../src/platform/crypto.ts';
import { createHttpConnector } from '../../src/platform/upstream-http.ts';
import { loggedIn } from './client-login.ts';

const timeoutMs = 15_000;
const signal = new AbortController().signal;

/** An agent of 2026-07-28 says with every request what it can do; one of 2025 said so when its session began. */
const agent: UpstreamClient | undefined =
  process.env['MCP_CONFORMANCE_PROTOCOL_VERSION'] === '2026-07-28'
    ? { capabilities: { elicitation: {} }, info: { name: 'conformance-agent', version: '1.0.0' } }
    : undefined;

/** The same agent asked in the middle of a call, as one of 2025 can be: it accepts every form as it was filled in beforehand. */
const host: ClientHost | undefined =
  agent === undefined
    ? {
        capabilities: { elicitation: { form: {} } },
        info: { name: 'conformance-agent', version: '1.0.0' },
        async ask({ params = '{}' }) {
          const { requestedSchema } = JSON.parse(params) as { requestedSchema?: { properties?: Record<string, JsonObject> } };
          const filled = Object.entries(requestedSchema?.properties ?? {}).filter(([, field]) => field['default'] !== undefined);
          const content = Object.fromEntries(filled.map(([name, field]) => [name, field['default'] ?? null]));
          const value = { action: 'accept', content };
          return { kind: 'result', value, json: JSON.stringify(value) };
        },
        notify: () => undefined,
      }
    : undefined;

interface Offered {
  readonly name: string;
  readonly definition: string;
}

function resultOf(reply: UpstreamReply): JsonObject {
  if (reply.kind === 'error') throw new Error(reply.json);
  return reply.value;
}

async function ask(to: UpstreamConnection, method: string, params?: JsonObject, subject?: Offered, args?: JsonObject) {
  const behind = { ...(agent && { client: agent }), ...(host && { host }) };
  const options = { signal, timeoutMs, ...behind, ...(subject && { subject: { ...subject, args } }) };
  return resultOf(await to.request(method, params === undefined ? undefined : JSON.stringify(params), options));
}

/** The tools the gateway would offer: those whose definition it takes. */
async function tools(to: UpstreamConnection): Promise<Offered[]> {
  const listed = (await ask(to, 'tools/list'))['tools'] as readonly JsonObject[];
  const definitions = listed.map((tool) => readDefinition(JSON.stringify(tool), createDigest()));
  return definitions.flatMap((one) =>
    one === undefined || one.unusable !== undefined ? [] : [{ name: one.tool, definition: one.text }],
  );
}

async function call(
  to: UpstreamConnection,
  tool: Offered | undefined,
  args: JsonObject,
  more: JsonObject = {},
): Promise<JsonObject> {
  if (tool === undefined) throw new Error('the tool is not offered');
  return ask(to, 'tools/call', { name: tool.name, arguments: args, ...more }, tool, args);
}

const named = (all: readonly Offered[], name: string): Offered | undefined => all.find((tool) => tool.name === name);

/** Everything a request can be about, so that each of its headers is seen. */
async function askForEverything(to: UpstreamConnection): Promise<void> {
  for (const tool of await tools(to)) await call(to, tool, {});
  const { resources } = await ask(to, 'resources/list');
  for (const { uri } of resources as readonly { uri: string }[]) {
    await ask(to, 'resources/read', { uri }, { name: uri, definition: '{}' });
  }
  const { prompts } = await ask(to, 'prompts/list');
  for (const { name } of prompts as readonly { name: string }[]) {
    await ask(to, 'prompts/get', { name }, { name, definition: '{}' });
  }
}

/** Answers what a tool asks and calls again, as an agent does; an unrelated call comes in between. */
async function answerWhatIsAsked(to: UpstreamConnection): Promise<void> {
  const all = await tools(to);
  for (const tool of all) {
    const { resultType, inputRequests, requestState } = await call(to, tool, {});
    if (resultType !== 'input_required') continue;
    await call(to, named(all, 'test_mrtr_unrelated'), {});
    const accepted = { action: 'accept', content: { confirmed: true } };
    const inputResponses = Object.fromEntries(Object.keys(inputRequests as JsonObject).map((key) => [key, accepted]));
    await call(to, tool, {}, { inputResponses, ...(requestState === undefined ? {} : { requestState }) });
  }
}

async function callAsTold(to: UpstreamConnection): Promise<void> {
  const { toolCalls } = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as {
    toolCalls: readonly { name: string; arguments: JsonObject }[];
  };
  const all = await tools(to);
  for (const { name, arguments: args } of toolCalls) await call(to, named(all, name), args);
}

async function giveTheSchemaBack(to: UpstreamConnection): Promise<void> {
  const all = await tools(to);
  const { inputSchema } = JSON.parse(named(all, 'json_schema_2020_12_tool')?.definition ?? '{}') as JsonObject;
  await call(to, named(all, 'json_schema_echo'), { schema: inputSchema ?? {} });
}

const callAll =
  (args: JsonObject) =>
  async (to: UpstreamConnection): Promise<void> => {
    for (const tool of await tools(to)) await call(to, tool, args);
  };

const scenarios: Readonly<Record<string, (to: UpstreamConnection) => Promise<unknown>>> = {
  tools_call: callAll({ a: 5, b: 3 }),
  'elicitation-sep1034-client-defaults': callAll({}),
  'sse-retry': callAll({}),
  'sep-2322-client-request-state': answerWhatIsAsked,
  'http-standard-headers': askForEverything,
  'http-custom-headers': callAsTold,
  'http-invalid-tool-headers': callAll({}),
  'json-schema-2020-12-preservation': giveTheSchemaBack,
};

/** Rejects when something does not go as it should; the suite has seen why. */
export async function play(scenario: string, url: string): Promise<void> {
  // The daemon's timers keep no process alive; what waits for one here still has to see it.
  const awake = setInterval(() => undefined, timeoutMs);
  const connector = createHttpConnector({ clock: createClock(), client: { name: 'sallyport', version: '0.0.0' } });
  const visit = async (headers: Readonly<Record<string, string>>): Promise<void> => {
    const target = { url, headers, key: url };
    const connection = await connector.open(target, { startTimeoutMs: timeoutMs, signal, listens: true, ...(host && { host }) });
    try {
      await (scenarios[scenario] ?? (scenario.startsWith('auth/') ? callAll({}) : tools))(connection);
    } finally {
      await connection.close(1_000);
    }
  };
  try {
    if (scenario.startsWith('auth/')) await loggedIn(url, (authorization) => visit({ authorization }));
    else await visit({});
  } finally {
    connector.close();
    clearInterval(awake);
  }
}
