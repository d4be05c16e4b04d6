// How a command that works for an agent reaches the daemon as that agent: its token, and where the agent door is.
import { AppError } from '../kernel/errors.ts';
import { readPrivateFile } from '../platform/private-file.ts';
import type { Settings } from './config.ts';
import { readRunFile } from './run-file.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The token itself wins over the file; empty where neither is given. */
export async function agentToken(environment: Environment): Promise<string> {
  const token = environment['SALLYPORT_TOKEN'];
  if (token !== undefined && token !== '') return token;
  const path = environment['SALLYPORT_TOKEN_FILE'];
  if (path === undefined || path === '') return '';
  const text = await readPrivateFile(path, { what: 'token file', maxBytes: 4_096 });
  if (text !== undefined) return text.trim();
  throw new AppError('not_found', 'bridge.no_token', `There is no token file ${path}.`, {
    hint: 'Put the token that "sallyport agent add NAME" prints into it, then: chmod 600 on the file.',
  });
}

/** The URL of `/mcp` of the daemon of this home, or where one would listen. */
export async function agentDoor({ home, agentPort }: Pick<Settings, 'home' | 'agentPort'>): Promise<string> {
  const running = (await readRunFile(home))?.agent_url;
  if (running !== undefined) return running;
  if (agentPort !== 0) return `http://127.0.0.1:${agentPort}/mcp`;
  throw new AppError('unavailable', 'daemon.absent', 'no daemon is running, and its agent port is not fixed', {
    hint: 'Start it with: sallyport up. A fixed agent_port in sallyport.yaml lets agents start first.',
  });
}
