// One entry under `upstreams:` of sallyport.yaml: its schema, its errors in words, and the digest an operator accepts. Pure.
import { z } from 'zod';
import type { JsonObject } from '../../kernel/json.ts';
import type { Digest } from '../../kernel/ports.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { closest } from '../../lib/closest.ts';
import { placeNamed } from '../../lib/file-uri.ts';
import { authSchema, rawSecretProblem } from '../auth/model.ts';
import { hex } from './definition.ts';
import { mayPassThrough } from './environment.ts';
import { checkHttpTransport, httpTransport, looksLikeToken } from './http-transport.ts';
import { loginProblem } from './login-entry.ts';
import { reservedUpstreams, sharings, usualIdleStopMs, usualMaxSessions, type UpstreamSpec } from './model.ts';

export const upstreamName = /^(?!.*__)[a-z0-9][a-z0-9_-]{0,63}$/;
export const upstreamNameHelp = 'lower-case letters, digits, - and single _, beginning with a letter or digit, at most 64';

const plainText = z
  .string()
  .min(1)
  .refine((text) => !text.includes('\0'), 'must not hold a NUL character');
const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable');
const milliseconds = (most: number) => z.int().min(100).max(most);

const stdio = z.strictObject({
  kind: z.literal('stdio'),
  command: plainText,
  args: z.array(z.string().refine((text) => !text.includes('\0'), 'must not hold a NUL character')).default([]),
  cwd: plainText.refine((path) => path.startsWith('/'), 'must be an absolute path').optional(),
});

const upstream = z.strictObject({
  name: z
    .string()
    .regex(upstreamName, `must have ${upstreamNameHelp}`)
    .refine((name) => !(reservedUpstreams as readonly string[]).includes(name), 'is a name the gateway keeps for itself'),
  transport: z.discriminatedUnion('kind', [stdio, httpTransport], { error: kindProblem }),
  auth: authSchema.default({ type: 'none' }),
  env: z
    .record(
      variableName,
      z
        .string()
        .refine(
          (value) => !looksLikeToken(value),
          'looks like a secret; export it where the daemon runs and list its name under envPassthrough',
        ),
    )
    .default({}),
  envPassthrough: z
    .array(variableName.refine(mayPassThrough, 'is a variable of the gateway itself and is never passed on'))
    .default([]),
  exposeTools: z.array(plainText).default([]),
  roots: z
    .array(plainText.refine((text) => placeNamed(text) !== undefined, 'must be an absolute path or a file:// URI without . and ..'))
    .max(64)
    .default([]),
  enabled: z.boolean().default(true),
  startTimeoutMs: milliseconds(600_000).default(30_000),
  callTimeoutMs: milliseconds(3_600_000).default(120_000),
  sharing: z.enum(sharings, { error: () => `must be one of ${sharings.join(', ')}` }).default('shared'),
  maxSessions: z.int().min(1).max(4_096).default(usualMaxSessions),
  idleStopMs: z.int().min(1_000).max(86_400_000).default(usualIdleStopMs),
});

function kindProblem({ code }: { readonly code: string | undefined }): string | undefined {
  return code === 'invalid_union' ? 'must be stdio or http' : undefined;
}

const knownKeys = Object.keys(upstream.shape);
const stdioKeys = Object.keys(stdio.shape);

export type ParsedSpec = { readonly ok: true; readonly spec: UpstreamSpec } | { readonly ok: false; readonly problem: string };

/** `at` is where the entry stands, e.g. `upstreams[2]`; the problem names the exact place and, for a typo, what was probably meant. */
export function parseSpec(raw: unknown, at: string): ParsedSpec {
  const pasted = rawSecretProblem((raw as { readonly auth?: unknown } | null)?.auth);
  if (pasted !== undefined) return { ok: false, problem: `${at}.auth: ${pasted}.` };
  const result = upstream.safeParse(raw);
  if (!result.success) {
    const keys = isHttp(raw) ? Object.keys(httpTransport.shape) : stdioKeys;
    return { ok: false, problem: result.error.issues.map((issue) => inWords(issue, at, keys)).join(' ') };
  }
  const { transport } = result.data;
  const login = loginProblem(result.data);
  if (login !== undefined) return { ok: false, problem: `${at}.auth${login}` };
  if (transport.kind === 'http') {
    const { env, envPassthrough, sharing } = result.data;
    if (sharing !== 'shared')
      return {
        ok: false,
        problem: `${at}.sharing is for programs that are started here; an upstream over HTTP keeps a session for each agent session by itself.`,
      };
    if (Object.keys(env).length > 0 || envPassthrough.length > 0)
      return {
        ok: false,
        problem: `${at}: env and envPassthrough are for programs that are started here, not for an upstream over HTTP.`,
      };
    const checked = checkHttpTransport(transport);
    if (!checked.ok) return { ok: false, problem: `${at}.transport.${checked.problem}` };
    return { ok: true, spec: { ...result.data, transport: checked.transport } };
  }
  if (transport.command.includes('/') && !transport.command.startsWith('/') && transport.cwd === undefined) {
    return { ok: false, problem: `${at}.transport.command is a relative path: write the absolute path, or set cwd.` };
  }
  const { cwd, ...rest } = transport;
  return { ok: true, spec: { ...result.data, transport: cwd === undefined ? rest : { ...rest, cwd } } };
}

function isHttp(raw: unknown): boolean {
  return (raw as { readonly transport?: { readonly kind?: unknown } | null } | null)?.transport?.kind === 'http';
}

function inWords(issue: z.core.$ZodIssue, at: string, transportKeys: readonly string[]): string {
  const place = issue.path.reduce<string>(
    (path, part) => (typeof part === 'number' ? `${path}[${part}]` : `${path}.${String(part)}`),
    at,
  );
  if (issue.code === 'invalid_key') return `${place}: ${issue.issues[0]?.message ?? issue.message}.`;
  if (issue.code !== 'unrecognized_keys') return `${place}: ${issue.message}.`;
  const known = issue.path[0] === 'transport' ? transportKeys : knownKeys;
  return issue.keys.map((key) => `${place} has no key '${key}'${guess(key, known)}.`).join(' ');
}

function guess(key: string, known: readonly string[]): string {
  const meant = closest(key, known);
  return meant === undefined ? ` (it has ${known.join(', ')})` : `; did you mean '${meant}'?`;
}

/**
 * What an operator decides on: everything that determines what runs, what it can reach and whom it can ask back. Time-outs and `enabled`
 * are not of that kind.
 */
export function specFacts({ name, transport, auth, env, envPassthrough, exposeTools, roots, sharing }: UpstreamSpec): JsonObject {
  return {
    name,
    transport: transportFacts(transport),
    env,
    envPassthrough,
    exposeTools,
    // Only where they are not as usual: what was accepted before there was a choice stays accepted.
    ...(auth.type === 'none' ? {} : { auth: { ...auth } as JsonObject }),
    ...(roots.length === 0 ? {} : { roots }),
    ...(sharing === 'shared' ? {} : { sharing }),
  };
}

function transportFacts(transport: UpstreamSpec['transport']): JsonObject {
  if (transport.kind === 'http') {
    const { kind, url, headers, allow_insecure, addresses } = transport;
    return { kind, url, headers, ...(allow_insecure ? { allow_insecure } : {}), ...(addresses === 'any' ? {} : { addresses }) };
  }
  const { kind, command, args, cwd } = transport;
  return { kind, command, args, ...(cwd === undefined ? {} : { cwd }) };
}

/** Hex SHA-256 of the canonical facts. */
export function specDigest(spec: UpstreamSpec, digest: Digest): string {
  return hex(digest.sha256(canonicalJson({ v: 1, ...specFacts(spec) })));
}
