// tasks/list (2025-11-25): one page of one upstream after the other, of which everything is cut out that is not the caller's own or may not
// be had any more. What is left is in the bytes of its upstream. Upstreams where the caller has nothing are not asked.
import type { AgentCaller } from '../../kernel/caller.ts';
import type { RelayRequest } from '../../kernel/dispatch.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { arrayElements, objectMembers, type TextSpan } from '../../lib/json-text.ts';
import type { Fleet, UpstreamAnswer } from '../fleet/fleet.ts';
import type { RedactCategory } from '../policy/model.ts';
import type { Policy } from '../policy/policy.ts';
import { isObject } from './ask-verdict.ts';
import type { Admitted } from './model.ts';
import type { OwnedTask } from './owned-tasks.ts';
import { sessionTasks } from './task-words.ts';

export interface TaskPageDeps {
  readonly fleet: Fleet;
  readonly policy: Policy;
}

interface OwnTasks {
  readonly owned: readonly OwnedTask[];
  /** What has to be masked of a task; nothing when it may not be had. */
  readonly masks: (task: OwnedTask) => readonly RedactCategory[] | undefined;
}

/** Stands on no grant; what is minted for it need not outlive one page. */
const pageMs = 60_000;

export function taskPage(
  { fleet, policy }: TaskPageDeps,
  { agent, session }: AgentCaller,
  { method, scope, target, rest, client, signal }: RelayRequest,
  { owned, masks }: OwnTasks,
): Admitted {
  const readable = owned.flatMap((task) => {
    const redact = masks(task);
    return redact === undefined ? [] : [{ task, redact }];
  });
  const upstreams = [...new Set(readable.map(({ task }) => task.upstream))]
    .filter((upstream) => sessionTasks(fleet.said(upstream))?.['list'] !== undefined)
    .toSorted();
  const asked = target.kind === 'tasks' ? target.cursor : undefined;
  const place = scope.kind === 'all' ? placeOf(asked, upstreams) : { upstream: upstreams[0], cursor: asked };
  const { upstream, cursor } = place;
  const mine = readable.filter(({ task }) => task.upstream === upstream);
  const ids = new Set(mine.map(({ task }) => task.id));
  const after = scope.kind === 'all' ? upstreams[upstreams.indexOf(upstream ?? '') + 1] : undefined;

  const nextOf = (next: string | undefined): string | undefined => {
    if (scope.kind !== 'all') return next;
    if (next !== undefined) return `${upstream ?? ''}:${next}`;
    return after === undefined ? undefined : `${after}:`;
  };

  return {
    admission: {
      policy: policy.version(),
      rule: 'owner',
      redact: [...new Set(mine.flatMap(({ redact }) => redact))],
      byPerson: false,
      ttlMs: pageMs,
      standsOn: {},
    },
    errand: {
      subject: { capability: `${upstream ?? 'sallyport'}:method:${method}`, hash: undefined, annotations: {} },
      args: undefined,
      method,
      reads: true,
      async send(sending) {
        if (upstream === undefined) return answerOf('{"tasks":[]}');
        const params = { ...rest, ...(cursor === undefined ? {} : { cursor }) };
        const answer = await fleet.relay({ upstream, method, params, name: undefined, agent, session, client, signal, ...sending });
        return answer.kind === 'error' ? answer : answerOf(cut(answer.json, ids, nextOf));
      },
    },
  };
}

/** At `/mcp` a cursor says whose it is: `<upstream>:<its own>`. */
function placeOf(
  asked: string | undefined,
  upstreams: readonly string[],
): { readonly upstream: string | undefined; readonly cursor: string | undefined } {
  if (asked === undefined) return { upstream: upstreams[0], cursor: undefined };
  const colon = asked.indexOf(':');
  const upstream = asked.slice(0, Math.max(0, colon));
  // The upstream of an earlier page may be one where by now nothing is left.
  if (colon < 1 || !/^[a-z0-9][a-z0-9_-]*$/.test(upstream))
    throw new AppError('invalid', 'gateway.misuse', '"cursor" must be the string of an earlier nextCursor.');
  if (!upstreams.includes(upstream)) return { upstream: undefined, cursor: undefined };
  return { upstream, cursor: asked.slice(colon + 1) === '' ? undefined : asked.slice(colon + 1) };
}

function answerOf(json: string): UpstreamAnswer {
  return { kind: 'result', json, value: JSON.parse(json) as JsonObject, isError: false };
}

/** The text of the result with only these tasks in it; whatever else it holds stays as it is. */
function cut(json: string, ids: ReadonlySet<string>, nextOf: (next: string | undefined) => string | undefined): string {
  const members = objectMembers(json) ?? [];
  const text = (span: TextSpan): string => json.slice(span.start, span.end);
  const kept = members.flatMap((member) => {
    if (member.key === 'nextCursor') return [];
    if (member.key !== 'tasks') return [`${JSON.stringify(member.key)}:${text(member)}`];
    const own = (arrayElements(text(member)) ?? [])
      .map(({ start, end }) => text(member).slice(start, end))
      .filter((one) => ids.has(idOf(one)));
    return [`"tasks":[${own.join(',')}]`];
  });
  const last = members.findLast(({ key }) => key === 'nextCursor');
  const value = last === undefined ? undefined : (JSON.parse(text(last)) as Json);
  const next = nextOf(typeof value === 'string' ? value : undefined);
  return `{${[...kept, ...(next === undefined ? [] : [`"nextCursor":${JSON.stringify(next)}`])].join(',')}}`;
}

function idOf(task: string): string {
  const value = JSON.parse(task) as Json;
  return isObject(value) && typeof value['taskId'] === 'string' ? value['taskId'] : '';
}
