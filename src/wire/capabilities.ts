// The server capabilities that are declared to an agent, which every era writes alike: those of which there is something behind. At the
// endpoint of one upstream they are that upstream's own words, where the gateway relays what they promise.
import type { Offering } from '../kernel/dispatch.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import { isObject } from './jsonrpc.ts';

/** What eras declare in words of their own, as a capability or as an extension: no upstream speaks of it for all of them. */
const ofEras = new Set(['tasks', 'io.modelcontextprotocol/tasks']);

export function capabilitiesOf(offering: Offering): JsonObject {
  const { prompts, resources, completions, logging, subscriptions, upstream } = offering;
  const declared = upstream?.capabilities ?? {};
  const words = (key: string): JsonObject => (isObject(declared[key]) ? declared[key] : {});
  const { subscribe: _, ...ofResources } = words('resources');
  const served: Readonly<Record<string, JsonObject | undefined>> = {
    tools: offersTools(offering) ? { ...words('tools'), listChanged: true } : undefined,
    prompts: prompts ? { ...words('prompts'), listChanged: true } : undefined,
    resources: resources ? { ...ofResources, listChanged: true, ...(subscriptions ? { subscribe: true } : {}) } : undefined,
    completions: completions ? words('completions') : undefined,
    logging: logging ? words('logging') : undefined,
  };
  const others = Object.entries(declared).filter(([key]) => !Object.hasOwn(served, key));
  return Object.fromEntries([
    ...Object.entries(served).filter((entry): entry is [string, JsonObject] => entry[1] !== undefined),
    ...relayed(others).map(([key, value]) => [key, key === 'extensions' && isObject(value) ? ofExtensions(value) : value] as const),
  ]);
}

/** Everywhere but at the endpoint of an upstream that has none. */
export function offersTools({ upstream }: Pick<Offering, 'upstream'>): boolean {
  return upstream === undefined || Object.hasOwn(upstream.capabilities, 'tools');
}

function ofExtensions(extensions: JsonObject): JsonObject {
  return Object.fromEntries(relayed(Object.entries(extensions)));
}

function relayed(entries: readonly [string, Json][]): readonly [string, Json][] {
  return entries.filter(([key]) => !ofEras.has(key));
}
