// Stock servers of test/interop/ and what each is asked: calls whose answers are known, a resource, a prompt. None of them finds a name
// but localhost, so that they answer alike on every machine.
import { fork } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { inject, onTestFinished } from 'vitest';
import type { InteropAnswer, PostgresAnswer } from './global-setup.ts';
import type { RawIdentity } from './raw-client.ts';

export const interop = JSON.parse(await text(connect(inject('interopDoor')))) as InteropAnswer;

const loopback = fileURLToPath(new URL('../../bench/loopback.ts', import.meta.url));

export function packaged(path: string): string {
  return fileURLToPath(new URL(`../interop/node_modules/${path}`, import.meta.url));
}

export interface StockCall {
  readonly tool: string;
  readonly args: object;
  /** Part of the answer, whatever else it says. */
  readonly says: RegExp;
  /** Does not answer alike twice. */
  readonly varies?: true;
}

export interface StockServer {
  readonly name: string;
  readonly script: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly tools: number;
  readonly calls: readonly StockCall[];
  readonly resource?: string;
  readonly prompt?: string;
  /** Arguments and environment under which it speaks Streamable HTTP. */
  readonly http?: {
    readonly args?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
    /** The newest it has; 2025-11-25 unless told. */
    readonly era?: RawIdentity['era'];
  };
}

export function commandOf({ script, args = [] }: StockServer): [string, ...string[]] {
  return [process.execPath, '--import', loopback, packaged(script), ...args];
}

/** Its URL over HTTP, started so that it listens on a free port of loopback, which it tells. */
export async function listening(server: StockServer, home: string): Promise<string> {
  const { args = [], env = {} } = server.http ?? {};
  const child = fork(packaged(server.script), [...args], {
    execArgv: ['--import', loopback],
    env: { PATH: process.env['PATH'] ?? '', HOME: home, ...env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2_000)));
  const gone = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await gone;
  });
  const port = await new Promise<number>((resolve, reject) => {
    child.on('message', (message) => resolve((message as { listening: number }).listening));
    void gone.then(() => reject(new Error(`${server.name} ended: ${said}`)));
  });
  return `http://127.0.0.1:${port}/mcp`;
}

/** The URL of a real PostgreSQL, with a host that URL parsers want and drivers pass over; `undefined` where none can run. */
export async function postgresUrl(): Promise<string | undefined> {
  const answer = JSON.parse(await text(connect(inject('postgresDoor')))) as PostgresAnswer;
  return 'url' in answer ? answer.url.replace('@/', '@localhost/') : undefined;
}

const stock = (name: string): string => `@modelcontextprotocol/server-${name}/dist/index.js`;

/** `scratch`: a folder of their own to work in. */
export function stockServers(scratch: string, postgres: string | undefined): StockServer[] {
  mkdirSync(`${scratch}/repository`, { recursive: true });
  writeFileSync(`${scratch}/note.txt`, 'a note\n');
  const refused = /fetch failed|no name but localhost/;
  return [
    {
      name: 'everything',
      script: stock('everything'),
      args: ['stdio'],
      tools: 13,
      calls: [
        { tool: 'echo', args: { message: 'two doors' }, says: /Echo: two doors/ },
        { tool: 'get-sum', args: { a: 40, b: 2 }, says: /42/ },
        { tool: 'get-structured-content', args: { location: 'New York' }, says: /"structuredContent":\{/ },
        { tool: 'get-tiny-image', args: {}, says: /"type":"image"/ },
      ],
      resource: 'demo://resource/static/document/architecture.md',
      prompt: 'simple-prompt',
      http: { args: ['streamableHttp'] },
    },
    {
      name: 'files',
      script: stock('filesystem'),
      args: [scratch],
      tools: 14,
      calls: [
        { tool: 'read_text_file', args: { path: `${scratch}/note.txt` }, says: /a note/ },
        { tool: 'write_file', args: { path: `${scratch}/new.txt`, content: 'new' }, says: /Successfully wrote/ },
        { tool: 'read_text_file', args: { path: '/etc/hostname' }, says: /outside allowed directories/ },
      ],
    },
    {
      name: 'memory',
      script: stock('memory'),
      env: { MEMORY_FILE_PATH: `${scratch}/memory.jsonl` },
      tools: 9,
      calls: [
        {
          tool: 'create_entities',
          args: { entities: [{ name: 'gate', entityType: 'thing', observations: ['two doors'] }] },
          says: /two doors/,
        },
        { tool: 'search_nodes', args: { query: 'gate' }, says: /two doors/ },
      ],
      resource: 'memory://knowledge-graph',
    },
    {
      name: 'thinking',
      script: stock('sequential-thinking'),
      tools: 1,
      calls: [
        {
          tool: 'sequentialthinking',
          args: { thought: 'a', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
          says: /"thoughtHistoryLength":1/,
        },
      ],
    },
    {
      name: 'github',
      script: stock('github'),
      env: { GITHUB_PERSONAL_ACCESS_TOKEN: 'none' },
      tools: 26,
      calls: [{ tool: 'search_repositories', args: { query: 'gate' }, says: refused }],
    },
    ...(postgres === undefined
      ? []
      : [
          {
            name: 'postgres',
            script: stock('postgres'),
            args: [postgres],
            tools: 1,
            calls: [
              { tool: 'query', args: { sql: 'select 40 + 2 as answer' }, says: /answer.{1,20}42/s },
              { tool: 'query', args: { sql: 'create table t (a int)' }, says: /read-only transaction/ },
            ],
          },
        ]),
    {
      name: 'repository',
      script: '@cyanheads/git-mcp-server/dist/index.js',
      tools: 28,
      calls: [
        { tool: 'git_init', args: { path: `${scratch}/repository` }, says: /"isBare":false/ },
        { tool: 'git_status', args: { path: `${scratch}/repository` }, says: /"isClean":true/ },
      ],
      http: { env: { MCP_TRANSPORT_TYPE: 'http' } },
    },
    {
      name: 'notion',
      script: '@notionhq/notion-mcp-server/bin/cli.mjs',
      tools: 24,
      calls: [{ tool: 'API-get-self', args: {}, says: refused }],
    },
    {
      name: 'chart',
      script: '@antv/mcp-server-chart/build/index.js',
      tools: 27,
      calls: [{ tool: 'generate_pie_chart', args: { data: [{ category: 'a', value: 1 }] }, says: refused }],
      http: { args: ['--transport', 'streamable', '--port', '1122'] },
    },
    {
      name: 'context7',
      script: '@upstash/context7-mcp/dist/index.js',
      tools: 2,
      calls: [{ tool: 'resolve-library-id', args: { query: 'zod', libraryName: 'zod' }, says: refused }],
      http: { args: ['--transport', 'http', '--port', '3000'], env: { OTEL_SDK_DISABLED: 'true' }, era: '2026-07-28' },
    },
    {
      name: 'fetch',
      script: 'mcp-fetch-server/dist/index.js',
      tools: 6,
      calls: [{ tool: 'fetch_markdown', args: { url: 'http://127.0.0.1:1/' }, says: /private address/ }],
    },
    {
      name: 'runner',
      script: 'mcp-server-code-runner/dist/cli.js',
      tools: 1,
      calls: [{ tool: 'run-code', args: { languageId: 'javascript', code: 'console.log(6 * 7)' }, says: /42/ }],
    },
    {
      name: 'eslint',
      script: '@eslint/mcp/src/mcp-cli.js',
      tools: 1,
      calls: [{ tool: 'lint-files', args: { filePaths: [`${scratch}/note.txt`] }, says: /config file/ }],
    },
    {
      name: 'hello',
      script: 'mcp-hello-world/build/stdio.js',
      tools: 3,
      calls: [
        { tool: 'echo', args: { message: 'hi' }, says: /hi/ },
        { tool: 'add', args: { a: 2, b: 3 }, says: /5/ },
      ],
      resource: 'hello://world',
      prompt: 'helpful-assistant',
    },
    {
      name: 'commander',
      script: '@wonderwhy-er/desktop-commander/dist/index.js',
      tools: 26,
      calls: [
        {
          tool: 'start_process',
          args: { command: 'sleep 300 & echo under way; sleep 300', timeout_ms: 300 },
          says: /under way/,
          varies: true,
        },
      ],
      resource: 'ui://desktop-commander/config-editor',
    },
  ];
}
