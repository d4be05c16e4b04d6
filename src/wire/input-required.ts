// Input that a server wants in the middle of a request, as 2026-07-28 asks for it ("Multi Round-Trip Requests"): a result that says what
// is missing, and the same request once more with the answers. Which states are ours, who may be asked what, and what an answer looks like.
import type { Json, JsonObject } from '../kernel/json.ts';
import { isObject } from './jsonrpc.ts';

/** Marks a `requestState` as one of this gateway; every other is an upstream's and goes to it untouched. */
export const ownState = 'sallyport:';

/** What came back with a state of ours. */
export interface Resumption {
  readonly state: string;
  readonly responses: Json | undefined;
}

export interface InputRequest {
  /** The response comes under it. */
  readonly key: string;
  readonly method: string;
  /** JSON text of an object, as whoever asks wrote it. */
  readonly params: string | undefined;
}

interface InputKind {
  /** What the client has to have declared. */
  needs(params: JsonObject): JsonObject;
  /** What is wrong with a response, for its sender; nothing when nothing is. */
  fault(response: JsonObject): string | undefined;
}

const actions: ReadonlySet<Json | undefined> = new Set(['accept', 'decline', 'cancel']);

const kinds = new Map<string, InputKind>([
  [
    'sampling/createMessage',
    {
      needs: ({ tools, toolChoice }) => ({ sampling: tools === undefined && toolChoice === undefined ? {} : { tools: {} } }),
      fault: ({ role, content, model }) =>
        typeof role === 'string' && typeof model === 'string' && typeof content === 'object' && content !== null
          ? undefined
          : 'a sampled message, with "role", "content" and "model"',
    },
  ],
  [
    'elicitation/create',
    {
      needs: ({ mode }) => ({ elicitation: mode === 'url' ? { url: {} } : { form: {} } }),
      fault: ({ action, content }) =>
        actions.has(action) && (content === undefined || isObject(content))
          ? undefined
          : '"action" ("accept", "decline" or "cancel") and, where a form was accepted, "content", an object',
    },
  ],
  [
    'roots/list',
    {
      needs: () => ({ roots: {} }),
      fault: ({ roots }) =>
        Array.isArray(roots) && (roots as readonly Json[]).every((root) => isObject(root) && typeof root['uri'] === 'string')
          ? undefined
          : '"roots", a list of objects with "uri"',
    },
  ],
]);

/** Nothing for params whose state is not ours. */
export function readResumption({ requestState, inputResponses }: JsonObject): Resumption | undefined {
  if (typeof requestState !== 'string' || !requestState.startsWith(ownState)) return undefined;
  return { state: requestState, responses: inputResponses };
}

/** May a client of this revision be asked this at all? */
export function isInputRequest(method: string): boolean {
  return kinds.has(method);
}

/** What the client would have to declare to be asked this; nothing when it has. */
export function missingFor(method: string, params: JsonObject, capabilities: JsonObject): JsonObject | undefined {
  const needed = kinds.get(method)?.needs(params) ?? {};
  const lacks = Object.entries(needed).some(([key, features]) => {
    const declared = capabilities[key];
    if (!isObject(declared)) return true;
    return Object.keys(features as JsonObject).some(
      (feature) => !Object.hasOwn(declared, feature) && !isImplied(feature, declared),
    );
  });
  return lacks ? needed : undefined;
}

/** An elicitation capability that names no mode means forms (client/elicitation, "Capabilities"). */
function isImplied(feature: string, declared: JsonObject): boolean {
  return feature === 'form' && !Object.hasOwn(declared, 'url');
}

/** The text of `inputRequests`. */
export function inputRequestsText(requests: readonly InputRequest[]): string {
  const members = requests.map(({ key, method, params }) => {
    const rest = params === undefined ? '' : `,"params":${params}`;
    return `${JSON.stringify(key)}:{"method":${JSON.stringify(method)}${rest}}`;
  });
  return `{${members.join(',')}}`;
}

/** What is wrong with the responses to what was `asked` (method by key), for their sender. Every one has to be there, and no other. */
export function responsesFault(asked: ReadonlyMap<string, string>, responses: Json | undefined): string | undefined {
  if (!isObject(responses)) return `Send "inputResponses", an object with ${named(asked.keys())}.`;
  const extra = Object.keys(responses).find((key) => !asked.has(key));
  if (extra !== undefined) return `Nothing was asked under ${JSON.stringify(extra.slice(0, 64))}. Answer ${named(asked.keys())}.`;
  for (const [key, method] of asked) {
    const response = Object.hasOwn(responses, key) ? responses[key] : undefined;
    if (response === undefined) return `"inputResponses" lacks ${named([key])}.`;
    const fault = isObject(response) ? kinds.get(method)?.fault(response) : 'an object';
    if (fault !== undefined) return `The response ${named([key])} answers ${method} and must be ${fault}.`;
  }
  return undefined;
}

function named(keys: Iterable<string>): string {
  return [...keys].map((key) => JSON.stringify(key)).join(', ');
}
