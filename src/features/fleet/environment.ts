// The environment a child gets: a short allow-list, what its spec names, and nothing else of the daemon's. Reads no process; the daemon's
// environment is handed in.
import type { UpstreamSpec } from './model.ts';

/** Where certificates to trust lie: without them a child behind an inspecting proxy hangs in its first download. */
const trust = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'];
const allowed = new Set(['PATH', 'HOME', 'LANG', 'TMPDIR', 'TZ', 'USER', 'LOGNAME', 'SHELL', ...trust]);
const secretLooking = /TOKEN|SECRET|KEY|PASSWORD|PASSWD|CREDENTIAL/i;
/** Never handed on, named or not: they steer or unlock the gateway itself. */
const ours = /^(?:SALLYPORT|SCOPEGATE)_/;

type Environment = Readonly<Record<string, string | undefined>>;

export function mayPassThrough(name: string): boolean {
  return !ours.test(name);
}

/** Allow-list first, then names passed through, then fixed values, each over the ones before. */
export function childEnvironment(spec: Pick<UpstreamSpec, 'env' | 'envPassthrough'>, daemon: Environment): Record<string, string> {
  const child: Record<string, string> = {};
  for (const [name, value] of Object.entries(daemon)) {
    if (value === undefined || ours.test(name)) continue;
    const plain = (allowed.has(name) || name.startsWith('LC_')) && !secretLooking.test(name);
    if (plain || spec.envPassthrough.includes(name)) child[name] = value;
  }
  return { ...child, ...spec.env };
}

/** Names passed through that the daemon does not have. */
export function missingPassthrough(spec: Pick<UpstreamSpec, 'envPassthrough'>, daemon: Environment): readonly string[] {
  return spec.envPassthrough.filter((name) => daemon[name] === undefined);
}

const shortestMasked = 6;

/** Replaces every value that this upstream was given beyond the plain ones, longest first, by its name. */
export function maskEnvironment(text: string, spec: Pick<UpstreamSpec, 'env' | 'envPassthrough'>, daemon: Environment): string {
  const given = [...spec.envPassthrough.map((name) => [name, daemon[name]] as const), ...Object.entries(spec.env)];
  const values = given.filter(
    (pair): pair is readonly [string, string] => (pair[1]?.length ?? 0) >= shortestMasked && !allowed.has(pair[0]),
  );
  return values
    .toSorted((a, b) => b[1].length - a[1].length)
    .reduce((masked, [name, value]) => masked.replaceAll(value, `[${name}]`), text);
}
