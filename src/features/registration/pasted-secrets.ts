// Does a text that an agent wrote hold a secret, where no name of one belongs either: in a URL, an argument, a command? More is let pass
// than in the place of a name, because paths and packages are long too. Keeps and repeats nothing it looks at.

/** Beginnings of tokens in the field, at the start of a word. */
const beginning =
  /(?:^|[^A-Za-z0-9])(?:sk-[A-Za-z0-9]|gh[pousr]_|github_pat_|xox[baprs]-|AKIA[0-9A-Z]|ASIA[0-9A-Z]|AIza|eyJ[A-Za-z0-9]|glpat-|npm_[A-Za-z0-9]{8}|-----BEGIN)/;
/** Base64 without what paths and names are joined by; digests that are said to be digests are public. */
const run = /[A-Za-z0-9+=]{32,}/;
const digest = /sha(?:256:[0-9a-f]{64}|512-[A-Za-z0-9+/=]{86,88})/g;

export function holdsSecret(text: string): boolean {
  const rest = text.replaceAll(digest, '');
  return beginning.test(rest) || run.test(rest);
}

const secretName = /(?:token|secret|passw(?:or)?d|passphrase|credentials?|api[-_]?key|private[-_]?key|cookie|authorization)$/i;
/** `--token`, `-e`, `TOKEN`: what may stand before a value. */
const option = /^-{0,2}([A-Za-z][\w-]*)$/;
const assignment = /^-{0,2}([A-Za-z][\w-]*)=(.+)$/s;
const header = /^(?:proxy-)?(authorization|cookie|x-[\w-]*(?:key|token|auth)[\w-]*)\s*:/i;

/**
 * The place of the first argument that holds one: by its looks, by the name it is given to (`--token VALUE`, `API_KEY=VALUE`), or as a
 * header. `undefined` when there is none.
 */
export function secretArgument(args: readonly string[]): number | undefined {
  const at = args.findIndex((text, place) => {
    if (holdsSecret(text) || header.test(text)) return true;
    const [, assigned, value] = assignment.exec(text) ?? [];
    if (assigned !== undefined && value !== undefined && secretName.test(assigned) && !isReference(value)) return true;
    const [, before] = option.exec(args[place - 1] ?? '') ?? [];
    return before !== undefined && args[place - 1]?.startsWith('--') === true && secretName.test(before) && !isWord(text);
  });
  return at < 0 ? undefined : at;
}

/** A variable that the child resolves itself. */
function isReference(value: string): boolean {
  return /^\$\{?[A-Za-z_]\w*\}?$/.test(value);
}

/** The next option, or the name of a variable. */
function isWord(text: string): boolean {
  return text.startsWith('-') || isReference(text) || /^[A-Z][A-Z0-9_]*$/.test(text);
}
