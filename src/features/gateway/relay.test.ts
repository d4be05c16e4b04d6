// What passes through a call and comes back: bytes untouched, or masked where a rule says so.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { oddResult } from '../../../test/fixtures/odd-result.ts';
import { openGatewayHouse, type GatewayHouse } from '../../../test/support/gateway-house.ts';
import type { JsonObject } from '../../kernel/json.ts';

const policies = `
version: 1
agents:
  '*':
    capabilities:
      - { match: 'masked:call:*', effect: allow, redact: [email] }
      - { match: 'masked:*:*', effect: allow, redact: [card] }
      - { match: '{up,plain}:call:*', effect: allow }
`;

let house: GatewayHouse;
beforeAll(async () => {
  house = await openGatewayHouse({ policies, upstreams: { up: ['echo'], masked: ['repeats'], plain: ['repeats'] } });
});
afterAll(() => house.close());

const words = 'ada@example.org paid with 4111 1111 1111 1111';
const masked = '[REDACTED:email] paid with [REDACTED:card]';

test('[RES-1] the categories of all covering rules are masked in text and structured content', async () => {
  const kimi = await house.agent();
  const answer = await kimi.call('masked__say', { words });
  expect(answer.kind === 'upstream' && JSON.parse(answer.result)).toEqual({
    content: [{ type: 'text', text: masked }],
    structuredContent: { words: masked },
  });
});

test('[RES-1] they are masked in progress notices, before the answer', async () => {
  const kimi = await house.agent();
  const notes: JsonObject[] = [];
  await kimi.call('masked__whisper', { words }, { onProgress: (note) => void notes.push(note) });
  expect(notes).toEqual([{ progress: 1, message: masked }]);
});

test('[RES-1] they are masked in errors of the upstream, message and data', async () => {
  const kimi = await house.agent();
  const answer = await kimi.call('masked__refuse', { words });
  expect(answer.kind === 'upstream_error' && JSON.parse(answer.error)).toEqual({
    code: -32001,
    message: `no: ${masked}`,
    data: { words: masked },
  });
});

test('[RES-1] where no rule asks for it everything comes back as it was', async () => {
  const kimi = await house.agent();
  expect(await kimi.text('plain__say', { words })).toBe(words);
  const notes: JsonObject[] = [];
  await kimi.call('plain__whisper', { words }, { onProgress: (note) => void notes.push(note) });
  expect(notes).toMatchObject([{ message: words }]);
});

test('[DOOR-11] the bytes of a result and the params of a call pass unchanged', async () => {
  const kimi = await house.agent();
  expect(await kimi.call('up__odd')).toEqual({ kind: 'upstream', result: oddResult });
  const rest = { _meta: { 'vendor/x': [1, null] }, unknown: { kept: true } };
  expect(JSON.parse(await kimi.text('up__params', { b: 1, a: { z: null } }, { rest }))).toEqual({
    ...rest,
    name: 'params',
    arguments: { b: 1, a: { z: null } },
  });
  expect(JSON.parse(await kimi.text('up__params', undefined))).toEqual({ name: 'params' });
});
