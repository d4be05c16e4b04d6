// Tool calls that go on as tasks: whose they are, what may be asked about them, and how their end comes on the record. The admission of
// the call covers what is asked later, as far as the policy in force still lets it. Knows no wire.
import type { AgentCaller } from '../../kernel/caller.ts';
import type { ClientHost } from '../../kernel/client-host.ts';
import type { Offering, RelayRequest, ToolCall, ToolScope } from '../../kernel/dispatch.ts';
import { AppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Clock } from '../../kernel/ports.ts';
import type { Agents } from '../agents/agents.ts';
import type { Audit } from '../audit/audit.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { TaskNotice } from '../fleet/model.ts';
import type { Policy } from '../policy/policy.ts';
import type { Results } from '../results/results.ts';
import { assertStillAdmitted } from './admission.ts';
import type { Admission, Admitted } from './model.ts';
import type { Offerings } from './offering.ts';
import { createOwnedTasks, mostTasks, type OwnedTask } from './owned-tasks.ts';
import { createTaskCourse, hourMs } from './task-course.ts';
import { taskPage, type TaskPageDeps } from './task-page.ts';
import { sessionTasks, terminal, type TaskWords } from './task-words.ts';

export interface Tasks {
  /**
   * What of a call's params goes to this upstream: `task` does where both sides speak of it alike, and is nothing to all others
   * (2025-11-25, "Tasks"). Throws `gateway.too_many_tasks` when the agent has as many as it may.
   */
  restOf(caller: AgentCaller, upstream: string, call: Pick<ToolCall, 'rest' | 'client'>): JsonObject;
  /** The upstream answered a call with a task. What comes back is to be told in place of its answer: the id leads elsewhere here. */
  made(
    task: TaskWords,
    by: Admitted & {
      readonly caller: AgentCaller;
      readonly scope: ToolScope;
      readonly intent: string;
      readonly host: ClientHost | undefined;
    },
  ): AppError | undefined;
  /** Throws `gateway.unknown_task` for what is not the caller's, `policy.denied`, and `gateway.misuse` for a cursor that is none. */
  errand(caller: AgentCaller, request: RelayRequest): Admitted;
  sessionEnded(session: string): void;
}

/** What nobody behind the endpoint has is no method of it; asked alike whether or not there is such an upstream. */
function unknownTask({ method, client }: RelayRequest, { sessionTasks: session, extensionTasks: extension }: Offering): AppError {
  if ((client === undefined ? session : extension) === undefined)
    return new AppError('invalid', 'gateway.unknown_method', `There is no method '${method}' here.`);
  return new AppError('invalid', 'gateway.unknown_task', 'There is no such task.');
}

interface TaskDeps extends TaskPageDeps {
  readonly fleet: Fleet;
  readonly policy: Policy;
  readonly offerings: Offerings;
  readonly agents: Agents;
  readonly audit: Pick<Audit, 'append'>;
  readonly results: Results;
  readonly clock: Clock;
}

/** `tasks/result` answers when the task is done, which is what tasks are for. */
const longestWaitMs = hourMs;
const statusMethod = 'notifications/tasks/status';

export function createTasks(deps: TaskDeps): Tasks {
  const { fleet, policy, offerings, agents, audit, results, clock } = deps;
  const course = createTaskCourse({ audit, clock });
  const owned = createOwnedTasks({ clock, gone: (task, why) => course.ended(task, why) });
  fleet.onTaskNotice(noticed);
  const lost = (upstream: string): void => owned.removeAll((task) => task.upstream === upstream, 'lost');
  fleet.onStopped(lost);
  fleet.onLeft(lost);
  agents.onEnded((name, why) => {
    // Whoever gets the name next inherits nothing; one that is suspended may come back.
    if (why === 'revoked' || why === 'removed') owned.removeAll(({ agent }) => agent === name, 'lost');
  });

  /** What covered the call, with whatever has to be masked since. Throws `policy.denied` when it may not be had any more. */
  function standing({ agent, subject, args, admission }: OwnedTask): Admission {
    assertStillAdmitted(policy, agent, subject, args, admission);
    const version = policy.version();
    if (version === admission.policy) return admission;
    const { capability, annotations } = subject;
    const verdict = policy.decide({ agent, capability, args: args ?? {}, annotations });
    const redact = verdict.effect === 'deny' ? [] : verdict.redact;
    return { ...admission, policy: version, redact: [...new Set([...admission.redact, ...redact])] };
  }

  /** It may be had, and this is what has to be masked. */
  function masks(task: OwnedTask): Admission['redact'] | undefined {
    try {
      agents.assertActive(task.agent);
      return standing(task).redact;
    } catch {
      return undefined;
    }
  }

  function noticed({ upstream, among, id, status, text }: TaskNotice): void {
    for (const task of owned.called(upstream, id)) {
      const { agent, session, host } = task;
      if (session === undefined ? !among({ agent, session: '' }) : !among({ agent, session })) continue;
      if (status !== undefined && terminal.has(status)) course.ended(task, status);
      const redact = masks(task);
      if (redact !== undefined) host?.notify(statusMethod, results.redact(text, redact).json);
    }
  }

  function about(caller: AgentCaller, asked: RelayRequest, id: string): Admitted {
    const { method, scope, rest, client, signal } = asked;
    const task = owned.find(caller, scope, id);
    if (task === undefined) throw unknownTask(asked, offerings.of(caller, scope));
    const { upstream, subject, args } = task;
    const { agent, session } = caller;
    const request = { upstream, method, name: id, agent, session, client, signal };
    const waits = method === 'tasks/result' ? { timeoutMs: longestWaitMs } : {};
    return {
      admission: standing(task),
      errand: {
        subject,
        args,
        method,
        reads: method === 'tasks/get' || method === 'tasks/result',
        sealed: { task: id, params: JSON.stringify(rest) },
        async send(sending, more) {
          const answer = await fleet.relay({ ...request, params: { ...rest, ...more, taskId: id }, ...waits, ...sending });
          course.answered(task, method, answer);
          return answer;
        },
      },
    };
  }

  return {
    restOf({ agent }, upstream, { rest, client }) {
      const speaksOf = sessionTasks(fleet.said(upstream)) !== undefined;
      if ((client === undefined) !== speaksOf) {
        const { task: _, ...others } = rest;
        return others;
      }
      if (speaksOf && owned.unfinished(agent) >= mostTasks) throw tooMany();
      return rest;
    },
    made(words, { caller, scope, intent, host, errand, admission }) {
      const { agent, session } = caller;
      const { subject, args } = errand;
      const upstream = subject.capability.slice(0, subject.capability.indexOf(':'));
      const before = scope.kind === 'all' ? owned.find(caller, scope, words.id) : undefined;
      const madeAt = clock.monotonic();
      const task: OwnedTask = {
        agent,
        upstream,
        id: words.id,
        session: fleet.keepsPerSession(upstream) ? session : undefined,
        subject,
        args,
        admission,
        intent,
        host,
        madeAt,
        forgetAt: madeAt,
        ended: false,
      };
      owned.add(task);
      course.seen(task, words);
      return before === undefined || before.upstream === upstream ? undefined : taken(before.upstream, task);
    },
    errand(caller, request) {
      const { target } = request;
      if (target.kind === 'task') return about(caller, request, target.id);
      return taskPage(deps, caller, request, { owned: owned.of(caller, request.scope), masks });
    },
    sessionEnded(session) {
      owned.removeAll((task) => task.session === session, 'lost');
    },
  };
}

function tooMany(): AppError {
  return new AppError('limited', 'gateway.too_many_tasks', `This agent has ${mostTasks} tasks that go on already.`, {
    hint: 'Wait for some of them, or cancel them.',
  });
}

/** Nothing is lost: the earlier task keeps its id here, and the later one is where no other has it. */
function taken(upstream: string, { upstream: by, id }: OwnedTask): AppError {
  const message =
    `Upstream '${by}' runs this as task '${id.slice(0, 128)}', an id that here means a task of upstream '${upstream}'. ` +
    `It is reached at /mcp/upstreams/${by}.`;
  return new AppError('conflict', 'gateway.task_id_taken', message, {
    hint: `Ask for it at /mcp/upstreams/${by}, or wait until the other task is forgotten. Do not make the call again.`,
    data: { sent: true },
  });
}
