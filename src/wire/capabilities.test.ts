import { expect, test } from 'vitest';
import type { Offering } from '../kernel/dispatch.ts';
import type { JsonObject } from '../kernel/json.ts';
import { capabilitiesOf, offersTools } from './capabilities.ts';

const nothing: Offering = { prompts: false, resources: false, completions: false, logging: false, subscriptions: false };

function of(capabilities: JsonObject, offering: Partial<Offering> = {}): Offering {
  const upstream = { serverInfo: { name: 'u', version: '1' }, instructions: undefined, capabilities };
  return { ...nothing, ...offering, upstream };
}

test('[TWOWAY-13] of the gateway itself only that is declared which something is behind', () => {
  expect(capabilitiesOf(nothing)).toEqual({ tools: { listChanged: true } });
  expect(capabilitiesOf({ prompts: true, resources: true, completions: true, logging: true, subscriptions: true })).toEqual({
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
    completions: {},
    logging: {},
  });
  expect(capabilitiesOf({ ...nothing, subscriptions: true })).toEqual({ tools: { listChanged: true } });
});

test('[TWOWAY-13] of one upstream its own words are said, and what the gateway does not relay is left out', () => {
  const declared = {
    tools: { listChanged: false, vendor: 1 },
    prompts: {},
    resources: { subscribe: true, listChanged: false, x: [1] },
    completions: { y: 1 },
    logging: { z: 1 },
    tasks: { list: {} },
    extensions: { 'io.modelcontextprotocol/tasks': {}, 'vendor/ui': { a: 1 } },
    'vendor.own': [1, 2],
  };
  const all = { prompts: true, resources: true, completions: true, logging: true };
  expect(capabilitiesOf(of(declared, all))).toEqual({
    tools: { listChanged: true, vendor: 1 },
    prompts: { listChanged: true },
    resources: { listChanged: true, x: [1] },
    completions: { y: 1 },
    logging: { z: 1 },
    extensions: { 'vendor/ui': { a: 1 } },
    'vendor.own': [1, 2],
  });
  expect(capabilitiesOf(of(declared, { ...all, subscriptions: true }))).toMatchObject({ resources: { subscribe: true } });
  expect(capabilitiesOf(of(declared))).not.toHaveProperty('logging');
});

test('[TWOWAY-13] an upstream without tools declares none', () => {
  expect(capabilitiesOf(of({ prompts: {} }, { prompts: true }))).toEqual({ prompts: { listChanged: true } });
  expect([offersTools(nothing), offersTools(of({ tools: {} })), offersTools(of({}))]).toEqual([true, true, false]);
});

test('[TWOWAY-13] no key of an upstream reaches further than its own member', () => {
  const hostile = JSON.parse('{"__proto__":{"tools":{}},"constructor":1,"logging":7}') as JsonObject;
  const said = capabilitiesOf(of(hostile, { logging: true }));
  expect(JSON.stringify(said)).toBe('{"logging":{},"__proto__":{"tools":{}},"constructor":1}');
  expect(Object.getPrototypeOf(said)).toBe(Object.prototype);
});
