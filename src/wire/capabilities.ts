// The server capabilities that are declared to an agent, which every era writes alike: those of which there is something behind.
import type { Offering } from '../kernel/dispatch.ts';
import type { JsonObject } from '../kernel/json.ts';

export function capabilitiesOf({ prompts, resources, completions }: Offering): JsonObject {
  return {
    tools: { listChanged: true },
    ...(prompts ? { prompts: { listChanged: true } } : {}),
    ...(resources ? { resources: { listChanged: true } } : {}),
    ...(completions ? { completions: {} } : {}),
  };
}
