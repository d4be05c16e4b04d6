// A client of one session at the test door: what it posts, what it is sent, and the host that stands for it with upstreams.
import { expect } from 'vitest';
import type { ClientHost } from '../../src/kernel/client-host.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { ask, type Answer, type TestDoor } from './agent-door.ts';
import type { OpenStream } from './mcp-stream.ts';

export interface Incoming {
  readonly id?: string;
  readonly method?: string;
  readonly params?: JsonObject;
}

export interface SessionClient {
  post(body: string, headers?: Record<string, string | undefined>): Promise<Answer>;
  readonly host: ClientHost;
  /** Notices that wait for it to listen. */
  missed(): readonly string[];
}

/** `session`: an open one of kimi's at `/mcp`. */
export function sessionClient(door: TestDoor, session: string): SessionClient {
  const find = (): ReturnType<TestDoor['endpoint']['find']> => door.endpoint.find(session, 'kimi', { kind: 'all' });
  const host = find()?.host;
  if (host === undefined) throw new Error('no session');
  return {
    post: (body, headers = {}) => ask(door, { body, headers: { 'mcp-session-id': session, ...headers } }),
    host,
    missed: () => [...(find()?.missed ?? [])],
  };
}

export function messages(stream: OpenStream): Incoming[] {
  return stream.events as Incoming[];
}

/** The message at this place, when it has come. */
export async function messageAt(stream: OpenStream, at = 0): Promise<Incoming> {
  await expect.poll(() => stream.events.length).toBeGreaterThan(at);
  return messages(stream)[at]!;
}
