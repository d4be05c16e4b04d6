// A stock server whose calls go on as tasks, behind the running program, and the client of the SDK that knows them: begun, asked about,
// asked back in the middle, done, and out of reach of everybody else.
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, ElicitRequestSchema, ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, onTestFinished, test } from 'vitest';
import { addAgent, decide, openHouse, type RunningDaemon } from '../support/running-daemon.ts';

const policies = `version: 1
agents:
  "*":
    capabilities:
      - match: "*:{call,read}:*"
        effect: allow
`;
const everything = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);

async function clientOf(daemon: RunningDaemon, token: string): Promise<Client> {
  const client = new Client({ name: 'tasker', version: '1' }, { capabilities: { elicitation: { form: {} }, tasks: {} } });
  client.setRequestHandler(ElicitRequestSchema, () => ({
    action: 'accept' as const,
    content: { interpretation: 'programming' },
  }));
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(daemon.agent_url), { requestInit }));
  onTestFinished(() => client.close());
  return client;
}

test(
  '[INTEROP-1] [TASK-2] [TASK-3] [SUBS-2] a stock server’s task is followed to its end by its client and found by nobody else',
  { timeout: 60_000 },
  async () => {
    const house = await openHouse({ policies });
    const daemon = await house.up();
    const tokens = [await addAgent(house, daemon, 'kimi'), await addAgent(house, daemon, 'thief')];
    await decide(house, daemon, 'fleet.add', { name: 'all', run: [process.execPath, everything, 'stdio'], sharing: 'agent' });
    const [client, thief] = await Promise.all(tokens.map((token) => clientOf(daemon, token)));
    if (client === undefined || thief === undefined) throw new Error('two agents were added');
    expect(client.getServerCapabilities()?.tasks).toEqual({ list: {}, cancel: {}, requests: { tools: { call: {} } } });

    const updated: string[] = [];
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void updated.push(params.uri));
    const uri = 'demo://resource/dynamic/text/1';
    await client.subscribeResource({ uri });
    await client.callTool({ name: 'all__toggle-subscriber-updates', arguments: {} });
    await expect.poll(() => updated, { timeout: 10_000 }).toContain(uri);

    await client.listTools();
    const call = { name: 'all__simulate-research-query', arguments: { topic: 'python', ambiguous: true } };
    const seen: string[] = [];
    let answer: unknown;
    let theft: unknown;
    for await (const message of client.experimental.tasks.callToolStream(call, CallToolResultSchema, { task: { ttl: 60_000 } })) {
      if (message.type === 'taskCreated') {
        const { taskId } = message.task;
        const tried = [thief.experimental.tasks.getTask(taskId), thief.experimental.tasks.cancelTask(taskId)];
        const outcomes = await Promise.allSettled(tried);
        const { tasks } = await client.experimental.tasks.listTasks();
        theft = [
          ...outcomes.map((outcome) =>
            outcome.status === 'rejected' ? (outcome.reason as { code?: unknown }).code : outcome.value,
          ),
          (await thief.experimental.tasks.listTasks()).tasks,
          tasks.map((own) => own.taskId === taskId),
        ];
      }
      if (message.type === 'taskStatus') seen.push(message.task.status);
      if (message.type === 'error') throw message.error;
      if (message.type === 'result') answer = message.result;
    }
    expect(theft).toEqual([-32602, -32602, [], [true]]);
    expect(seen).toContain('input_required');
    expect(JSON.stringify(answer)).toContain('python');
  },
);
