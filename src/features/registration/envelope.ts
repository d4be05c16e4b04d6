// The two envelopes in which an agent proposes an upstream (gate contract, scopegate_register_upstream), read strictly: what is not of
// the contract is refused in words, and so is what looks like a secret, which is never repeated. Knows no file and no upstream.
import { AppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { closest } from '../../lib/closest.ts';
import { printable } from '../../lib/printable.ts';
import { rawSecretProblem, secretRef } from '../auth/model.ts';
import { reservedUpstreams } from '../fleet/model.ts';
import { holdsSecret, secretArgument } from './pasted-secrets.ts';

export type Envelope =
  | { readonly kind: 'catalogue'; readonly entry: string }
  | { readonly kind: 'manual'; readonly name: string; readonly transport: ProposedTransport; readonly auth: JsonObject };

export type ProposedTransport =
  | { readonly kind: 'http'; readonly url: string }
  | { readonly kind: 'stdio'; readonly command: string; readonly args: readonly string[] };

const nameHelp = 'lower-case letters, digits, - and single _, beginning with a letter or digit, at most 64';
const nameForm = /^(?!.*__)[a-z0-9][a-z0-9_-]{0,63}$/;
const entryForm = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const longestText = 2_048;
const mostArguments = 64;
/** They steer whatever starts, or this gateway. */
const steering = /^(?:SALLYPORT_|SCOPEGATE_|LD_|DYLD_|NODE_OPTIONS$|PATH$|PYTHONPATH$|BASH_ENV$|ENV$)/i;
const operatorMay = 'The operator may add what is beyond that: sallyport upstream add --help';

/** Throws `registration.bad_proposal` (kind invalid) with the contract's sentence. */
export function readEnvelope({ from_registry: entry, ...manual }: Readonly<Record<string, unknown>>): Envelope {
  if (entry === undefined) return readManual(manual);
  if (Object.values(manual).some((value) => value !== undefined))
    throw bad("Pass EITHER 'from_registry' alone OR 'name', 'transport' and 'auth': the signed manifest says all three.");
  if (typeof entry !== 'string' || !entryForm.test(entry))
    throw bad(
      "Invalid 'from_registry': it must be the name of an entry, such as github. A human sees them with: sallyport registry ls",
    );
  return { kind: 'catalogue', entry };
}

function readManual({ name, transport, auth }: Readonly<Record<string, unknown>>): Envelope {
  if (typeof name !== 'string' || !nameForm.test(name)) throw bad(`Invalid or missing 'name': it must have ${nameHelp}.`);
  if ((reservedUpstreams as readonly string[]).includes(name))
    throw bad(`Invalid or missing 'name': '${name}' is a name the gateway keeps for itself.`);
  const read = readTransport(transport);
  const login = readAuth(auth);
  if (read.kind === 'http' && login['type'] === 'env')
    throw bad('auth.env is for programs that are started here; over http use bearer with a secretRef.');
  if (read.kind === 'stdio' && login['header'] !== undefined)
    throw bad('auth.header is for http; a program is given the value in a variable.');
  return { kind: 'manual', name, transport: read, auth: login };
}

function readTransport(raw: unknown): ProposedTransport {
  const transport = isObject(raw) ? raw : {};
  const { kind } = transport;
  if (kind === 'openapi')
    throw bad(
      "Invalid or missing 'transport.kind': openapi is not supported here; register an MCP server for that API, as http or stdio.",
    );
  if (kind !== 'http' && kind !== 'stdio') throw bad("Invalid or missing 'transport.kind': it must be http or stdio.");
  if (kind === 'http') {
    onlyKeys('transport', transport, ['kind', 'url']);
    const { url } = transport;
    if (typeof url !== 'string' || url === '') throw bad("Missing 'transport.url': the https URL of an MCP endpoint.");
    if (url.length > longestText) throw bad(`'transport.url' is longer than ${longestText} characters.`);
    return { kind, url };
  }
  onlyKeys('transport', transport, ['kind', 'command', 'args']);
  const { command, args = [] } = transport;
  if (typeof command !== 'string' || command.trim() === '')
    throw bad("Missing 'transport.command': the program to start, such as npx.");
  if (!isPlain(command)) throw bad("'transport.command' is too long or holds characters nobody can see.");
  if (holdsSecret(command)) throw bad('transport.command looks like a raw secret. Pass the NAME of a secret under auth instead.');
  if (!Array.isArray(args) || args.length > mostArguments || !args.every((one) => typeof one === 'string' && isPlain(one)))
    throw bad(`'transport.args' must be at most ${mostArguments} texts without characters that nobody can see.`);
  const words = args as readonly string[];
  const pasted = secretArgument(words);
  if (pasted !== undefined)
    throw bad(
      `transport.args[${pasted}] looks like a raw secret. Give it in a variable: auth {type: "env", env: {VARIABLE: "secret_name"}}.`,
    );
  return { kind, command, args: words };
}

/** NUL, line ends and the rest of what a terminal would not show as it is. */
function isPlain(text: string): boolean {
  return text.length <= longestText && printable(text) === text;
}

function readAuth(raw: unknown): JsonObject {
  if (raw === undefined || raw === null) return { type: 'none' };
  if (!isObject(raw)) throw bad('Invalid \'auth\': it must be an object such as {type: "none"}.');
  const problem = rawSecretProblem(raw);
  if (problem !== undefined) throw bad(problem);
  const { type } = raw;
  if (type === 'none') {
    onlyKeys('auth', raw, ['type']);
    return { type };
  }
  if (type === 'env') return readVariables(raw);
  if (type !== 'bearer' && type !== 'oauth2')
    throw bad(`Invalid or missing 'auth.type': it must be none, bearer, oauth2 or env. ${operatorMay}`);
  onlyKeys('auth', raw, type === 'bearer' ? ['type', 'secretRef', 'header', 'scheme'] : ['type', 'secretRef']);
  const { secretRef: ref, header, scheme } = raw;
  if (ref === undefined || ref === '') throw bad('auth.secretRef is required: the NAME of a secret, never its value.');
  return { type, secretRef: readRef('secretRef', ref), ...word('header', header), ...word('scheme', scheme) };
}

function readVariables(raw: JsonObject): JsonObject {
  onlyKeys('auth', raw, ['type', 'env']);
  const { env } = raw;
  if (!isObject(env) || Object.keys(env).length === 0 || Object.keys(env).length > mostArguments)
    throw bad('auth.env is required: {VARIABLE: "secret_name"} for each variable.');
  const entries = Object.entries(env).map(([name, ref]) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name)) throw bad('auth.env: a key is no name of an environment variable.');
    if (steering.test(name)) throw bad(`auth.env: '${name}' steers how programs run and is set by nobody but the operator.`);
    return [name, readRef(`env value '${name}'`, ref)] as const;
  });
  return { type: 'env', env: Object.fromEntries(entries) };
}

function readRef(what: string, ref: unknown): string {
  if (secretRef.safeParse(ref).success) return ref as string;
  throw bad(
    `${what} must be the NAME of a secret: lower-case letters, digits, _ . : -. A human adds one with: sallyport secret add NAME`,
  );
}

function word(key: 'header' | 'scheme', value: unknown): JsonObject {
  if (value === undefined) return {};
  if (typeof value !== 'string' || value.length > 64 || !isPlain(value)) throw bad(`auth.${key} must be a short text.`);
  if (holdsSecret(value)) throw bad(`auth.${key} looks like a raw secret. Pass the NAME of a secret as secretRef instead.`);
  return { [key]: value };
}

function onlyKeys(where: string, given: JsonObject, known: readonly string[]): void {
  const strange = Object.keys(given).find((key) => !known.includes(key));
  if (strange === undefined) return;
  const meant = closest(strange, known);
  const guess = meant === undefined ? '' : ` Did you mean '${meant}'?`;
  throw bad(`${where} takes no '${printable(strange.slice(0, 64))}' here.${guess} It takes: ${known.join(', ')}. ${operatorMay}`);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function bad(message: string): AppError {
  return new AppError('invalid', 'registration.bad_proposal', message);
}
