// The only reader of the environment and of the settings file's own keys. Cuts them into what each part needs; knows no part.
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { usualNaming, type Naming } from '../features/fleet/model.ts';
import type { RegistrySettings } from '../features/registry/source.ts';
import { AppError } from '../kernel/errors.ts';
import { readFileSync } from 'node:fs';

export interface Settings {
  /** Absolute path of the home, 0700. */
  readonly home: string;
  /** 0 = any free port. */
  readonly agentPort: number;
  readonly humanPort: number;
  /** `sqlite:<path>` or `postgres://…`. */
  readonly storage: string;
  readonly socketPath: string;
  readonly logLevel: LogLevel;
  /** Of the tools agents see; plain unless given. */
  readonly naming?: Naming;
  /** A catalogue of upstreams besides the one of the package. */
  readonly registry?: RegistrySettings;
  /** To which agents may propose plain http. */
  readonly insecureHosts?: readonly string[];
  /** The daemon's own environment, from which children get the allow-listed part. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface Flags {
  readonly agentPort?: number;
  readonly humanPort?: number;
}

const logLevels = ['debug', 'info', 'warn', 'error'] as const;
type LogLevel = (typeof logLevels)[number];

const port = z.int().min(0).max(65_535);

/** The keys of sallyport.yaml that belong to the daemon itself; `upstreams` belongs to the fleet, which checks it on its own. */
const fileSchema = z.strictObject({
  version: z.literal(1).default(1),
  listeners: z.strictObject({ agent_port: port.default(7077), human_port: port.default(7078) }).prefault({}),
  storage: z
    .string()
    .regex(/^postgres(?:ql)?:\/\//, 'expected postgres://… (leave it out for the embedded database)')
    .optional(),
  log_level: z.enum(logLevels).default('info'),
  naming: z.enum(['plain', 'safe']).default(usualNaming.style),
  longest_name: z.int().min(40).max(usualNaming.longest).default(usualNaming.longest),
  registry: z
    .strictObject({
      key: z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'expected the public key of the catalogue, 32 bytes in base64url'),
      path: z.string().refine(isAbsolute, 'expected an absolute path').optional(),
      url: z.url({ protocol: /^https$/, error: 'expected an https URL' }).optional(),
    })
    .refine(({ path, url }) => (path === undefined) !== (url === undefined), 'expected either path or url')
    .optional(),
  registration: z.strictObject({ insecure_hosts: z.array(z.string()).default([]) }).prefault({}),
  upstreams: z.unknown().optional(),
});

function registryOf({ registry }: z.infer<typeof fileSchema>): Pick<Settings, 'registry'> {
  if (registry === undefined) return {};
  const { key, path, url = '' } = registry;
  return { registry: { key, place: path === undefined ? { url } : { path } } };
}

/** SALLYPORT_HOME, else ~/.sallyport, as an absolute path. */
export function homeOf(environment: Readonly<Record<string, string | undefined>>): string {
  const named = environment['SALLYPORT_HOME'];
  if (named === undefined || named === '') return join(homedir(), '.sallyport');
  return isAbsolute(named) ? named : resolve(named);
}

/** HACK_HOME, else ~/.hack: of the dev toolset, where no secret is placed. */
export function devHomeOf(environment: Readonly<Record<string, string | undefined>>): string {
  const named = environment['HACK_HOME'];
  return named === undefined || named === '' ? join(environment['HOME'] ?? homedir(), '.hack') : resolve(named);
}

/** The unix socket of the local door. Its folder is 0700 and the socket 0600. */
export function socketOf(home: string): string {
  return join(home, 'run', 'sallyport.sock');
}

/**
 * Flags win over sallyport.yaml, which wins over the defaults. Throws `config.invalid` with file and key.
 */
export function readSettings(environment: Readonly<Record<string, string | undefined>>, flags: Flags): Settings {
  const home = homeOf(environment);
  const file = readFile(join(home, 'sallyport.yaml'));
  return {
    home,
    agentPort: flags.agentPort ?? file.listeners.agent_port,
    humanPort: flags.humanPort ?? file.listeners.human_port,
    storage: file.storage ?? `sqlite:${join(home, 'state.db')}`,
    socketPath: socketOf(home),
    logLevel: levelOf(environment['SALLYPORT_LOG_LEVEL']) ?? file.log_level,
    naming: { style: file.naming, longest: file.longest_name },
    ...registryOf(file),
    insecureHosts: file.registration.insecure_hosts,
    environment: Object.fromEntries(
      Object.entries(environment).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
    ),
  };
}

function levelOf(text: string | undefined): LogLevel | undefined {
  if (text === undefined) return undefined;
  const level = logLevels.find((known) => known === text);
  if (level !== undefined) return level;
  throw new AppError('invalid', 'config.invalid', `SALLYPORT_LOG_LEVEL is '${text}'; it takes ${logLevels.join(', ')}.`);
}

function readFile(path: string): z.infer<typeof fileSchema> {
  const document = parseDocument(textOf(path));
  const [broken] = document.errors;
  if (broken !== undefined) throw invalid(path, broken.message.split('\n')[0] ?? broken.message);
  const parsed = fileSchema.safeParse(document.toJS() ?? {});
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalid(path, `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'does not fit'}`.replace(/^: /, ''));
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw new AppError('invalid', 'config.invalid', `${path} cannot be read: ${(thrown as Error).message}`);
  }
}

function invalid(path: string, what: string): AppError {
  return new AppError('invalid', 'config.invalid', `${path}: ${what}`, { hint: 'Mend the file, then start again.' });
}
