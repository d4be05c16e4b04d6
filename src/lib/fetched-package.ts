// The package that a launcher fetches and runs, and the version its arguments pin it to. Fetches nothing.

export interface FetchedPackage {
  readonly name: string;
  /** Exact; absent for a range, a tag that moves, or nothing. */
  readonly version?: string;
}

/** A version of npm (Semantic Versioning 2.0.0), and one of Python (PEP 440). */
const exact: Readonly<Record<string, RegExp>> = {
  npx: /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/,
  uvx: /^\d+(?:\.\d+)+(?:(?:a|b|rc)\d+)?(?:\.post\d+)?(?:\.dev\d+)?$/,
};
/** What takes the place of the first argument, adds to it, or says where it is fetched from. */
const besides =
  /^(?:-p|-c|--(?:package|call|from|with|with-requirements|registry|index|index-url|default-index|extra-index-url|find-links|userconfig))(?:=|$)/;
/** Options that take a value of their own. */
const valued: Readonly<Record<string, readonly string[]>> = {
  npx: ['-w', '--workspace'],
  uvx: ['--python'],
  docker: [
    '-e',
    '--env',
    '-v',
    '--volume',
    '--name',
    '-p',
    '--publish',
    '--network',
    '-u',
    '--user',
    '-w',
    '--workdir',
    '--mount',
    '--entrypoint',
    '--env-file',
    '-l',
    '--label',
  ],
};

/** `undefined` where the program is no launcher, or where the arguments do not say in one way what it fetches. */
export function fetchedPackage(program: string, args: readonly string[]): FetchedPackage | undefined {
  const options = valued[program];
  if (options === undefined) return undefined;
  // With any of these its first argument is not the whole of what it fetches.
  if (program !== 'docker' && args.some((one) => besides.test(one))) return undefined;
  const rest = program === 'docker' && args[0] === 'run' ? args.slice(1) : args;
  if (program === 'docker' && args[0] !== 'run') return undefined;
  const at = rest.findIndex((one, place) => !one.startsWith('-') && !options.includes(rest[place - 1] ?? ''));
  const named = rest[at];
  if (named === undefined) return undefined;
  if (program === 'docker') return image(named);
  const separator = program === 'uvx' && named.includes('==') ? '==' : '@';
  const cut = named.lastIndexOf(separator);
  const [name, version] = cut <= 0 ? [named, ''] : [named.slice(0, cut), named.slice(cut + separator.length)];
  return exact[program]?.test(version) === true ? { name, version } : { name };
}

/** Only a digest says which image it is; tags move. */
function image(named: string): FetchedPackage {
  const [name = named, digest] = named.split('@');
  return digest !== undefined && /^sha256:[0-9a-f]{64}$/.test(digest) ? { name, version: digest } : { name };
}
