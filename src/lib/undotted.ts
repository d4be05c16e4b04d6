// Names for clients that take letters, digits, `_` and `-` only. What to do when two names become one is for the caller to say.

/** `hack.status` → `hack_status`. */
export function undotted(name: string): string {
  return name.replaceAll('.', '_');
}
