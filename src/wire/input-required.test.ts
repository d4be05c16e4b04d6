import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../kernel/json.ts';
import { isInputRequest, missingFor, responsesFault } from './input-required.ts';

describe('who may be asked', () => {
  test.each(['ping', 'tasks/get', 'elicitation/other', 'x/vendor', '__proto__'])('[PARK-4] nobody is asked %s', (method) => {
    expect(isInputRequest(method)).toBe(false);
  });

  test.each<[string, JsonObject, JsonObject, JsonObject | undefined]>([
    ['roots/list', {}, { roots: {} }, undefined],
    ['roots/list', {}, { sampling: {} }, { roots: {} }],
    ['roots/list', {}, { roots: true }, { roots: {} }],
    ['sampling/createMessage', {}, { sampling: {} }, undefined],
    ['sampling/createMessage', { tools: [] }, { sampling: {} }, { sampling: { tools: {} } }],
    ['sampling/createMessage', { toolChoice: {} }, { sampling: { tools: {} } }, undefined],
    ['elicitation/create', {}, { elicitation: {} }, undefined],
    ['elicitation/create', { mode: 'form' }, { elicitation: { form: {} } }, undefined],
    ['elicitation/create', {}, { elicitation: { url: {} } }, { elicitation: { form: {} } }],
    ['elicitation/create', { mode: 'url' }, { elicitation: {} }, { elicitation: { url: {} } }],
    ['elicitation/create', { mode: 'url' }, { elicitation: { url: {} } }, undefined],
    ['elicitation/create', {}, {}, { elicitation: { form: {} } }],
  ])('[PARK-4] %s with %j needs of %j: %j', (method, params, capabilities, missing) => {
    expect(missingFor(method, params, capabilities)).toEqual(missing);
  });
});

describe('responses', () => {
  const asked = new Map([
    ['ask-1', 'elicitation/create'],
    ['ask-2', 'roots/list'],
    ['ask-3', 'sampling/createMessage'],
  ]);
  const good = {
    'ask-1': { action: 'accept', content: { a: 1 } },
    'ask-2': { roots: [{ uri: 'file:///a' }] },
    'ask-3': { role: 'assistant', model: 'm', content: { type: 'text', text: 't' } },
  };

  test('[PARK-3] those that fit are fine, with whatever else they hold', () => {
    expect(responsesFault(asked, { ...good, 'ask-1': { action: 'decline', _meta: { a: 1 } } })).toBeUndefined();
  });

  test.each<[string, Json | undefined]>([
    ['ask-1', undefined],
    ['ask-1', []],
    ['ask-1', {}],
    ['ask-1', { ...good, 'ask-2': undefined as unknown as Json }],
    ['ask-4', { ...good, 'ask-4': {} }],
    ['constructor', { ...good, constructor: {} }],
    ['ask-1', { ...good, 'ask-1': null }],
    ['ask-1', { ...good, 'ask-1': { action: 'yes' } }],
    ['ask-1', { ...good, 'ask-1': { action: 'accept', content: [] } }],
    ['ask-2', { ...good, 'ask-2': { roots: {} } }],
    ['ask-2', { ...good, 'ask-2': { roots: [{ name: 'n' }] } }],
    ['ask-3', { ...good, 'ask-3': { role: 'assistant', model: 'm' } }],
    ['ask-3', { ...good, 'ask-3': { role: 'assistant', model: 'm', content: 'text' } }],
    ['ask-3', { ...good, 'ask-3': { role: 'assistant', content: {} } }],
  ])('[PARK-3] what is wrong with %s is said: %j', (_, responses) => {
    expect(responsesFault(asked, responses)).toMatch(/ask-/);
  });

  test('[PARK-3] a response under a name that every object has is none', () => {
    expect(responsesFault(new Map([['toString', 'roots/list']]), {})).toMatch(/lacks/);
  });
});
