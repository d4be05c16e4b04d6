import { expect, it } from 'vitest';
import { AppError } from '../../kernel/errors.ts';
import type { HttpHead, HttpReply } from '../../wire/http-exchange.ts';
import { createGitDoor } from './git-door.ts';

interface Answered {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: { readonly error?: { readonly code: string } };
}

/** The door before a gateway that gives everything; what it was asked and what it recorded. */
function door(operate: () => Promise<unknown> = async () => ({ username: 'u' })) {
  const asked: unknown[] = [];
  const refused: unknown[] = [];
  const passed: string[] = [];
  const states: Record<string, string> = { good: 'active', over: 'revoked' };
  const handler = createGitDoor(
    {
      agents: {
        authenticate: (token) => (states[token] === undefined ? undefined : { name: `agent-${token}`, state: states[token] }),
      },
      dispatch: {
        operate: (caller, name, input) => {
          asked.push([caller, name, input]);
          return operate();
        },
        refused: (at, reason) => void refused.push([at, reason]),
      },
    },
    (head) => void passed.push(head.path),
  );
  async function send(body: string, head: Partial<HttpHead> = {}): Promise<Answered> {
    const { promise, resolve } = Promise.withResolvers<Answered>();
    const reply = {
      send: (status: number, headers: readonly string[], text: string) =>
        resolve({ status, headers, body: JSON.parse(text) as Answered['body'] }),
      onGone: () => undefined,
    } as unknown as HttpReply;
    handler({ method: 'POST', path: '/git-credential', headers: { authorization: 'Bearer good' }, ...head }, reply)?.(body);
    return promise;
  }
  return { send, handler, asked, refused, passed };
}

it('[GIT-6] who is asking is the token and nothing in the question', async () => {
  const { send, asked } = door();
  const answer = await send('{"action":"get","protocol":"https","host":"h.example","agent":"other"}');
  expect(answer).toMatchObject({ status: 200, body: { username: 'u' } });
  expect(answer.headers).toContain('no-store');
  expect(asked).toEqual([
    [
      { kind: 'agent', agent: 'agent-good', session: 'git' },
      'gateway.git-credential',
      { protocol: 'https', host: 'h.example', agent: 'other' },
    ],
  ]);
});

it('[GIT-6] without the token of an agent nothing is asked, and the refusal is recorded without the token', async () => {
  const { send, asked, refused } = door();
  for (const authorization of [undefined, 'Bearer wrong', 'Bearer over', 'Basic good', 'Bearer  ', 'Bearer good extra']) {
    const { status, body } = await send('{"action":"get"}', { headers: { authorization } });
    expect([status, body.error?.code]).toEqual([401, 'git.no_agent']);
  }
  expect(asked).toEqual([]);
  expect(refused).toEqual(
    ['no_token', 'unknown_token', 'revoked_token', 'no_token', 'no_token', 'no_token'].map((why) => ['agent', why]),
  );
});

it('[GIT-6] only get and erase are there: no other operation is reached by naming it', async () => {
  const { send, asked } = door();
  for (const body of [
    '{"action":"store"}',
    '{"action":"git.allow"}',
    '{"action":"gateway.git-credential"}',
    '{"action":"constructor"}',
    '{"action":"__proto__"}',
    '{"action":["get"]}',
    '{"action":"get","action":"erase"}',
    '{}',
    '[]',
    'null',
    'action=get',
    '',
  ]) {
    expect([body, (await send(body)).status]).toEqual([body, 400]);
  }
  expect((await send('', { method: 'GET' })).status).toBe(400);
  expect(asked).toEqual([]);
});

it('[GIT-8] what is refused keeps its code and words, what was not expected keeps them to itself', async () => {
  const denied = door(() => Promise.reject(new AppError('denied', 'policy.denied', 'no', { hint: 'ask' })));
  expect(await denied.send('{"action":"get"}')).toMatchObject({
    status: 403,
    body: { error: { code: 'policy.denied', hint: 'ask' } },
  });
  const broken = door(() => Promise.reject(new Error('ghs_secret')));
  const answer = await broken.send('{"action":"get"}');
  expect([answer.status, JSON.stringify(answer.body).includes('ghs_secret')]).toEqual([500, false]);
});

it('[GIT-6] every other path is left to the door behind it', () => {
  const { handler, passed } = door();
  for (const path of ['/mcp', '/git-credential/', '/git-credential/x', '/'])
    handler({ method: 'POST', path, headers: {} }, {} as HttpReply);
  expect(passed).toEqual(['/mcp', '/git-credential/', '/git-credential/x', '/']);
});
