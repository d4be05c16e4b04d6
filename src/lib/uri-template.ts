// Whether a URI can be an expansion of a URI template (RFC 6570), in time linear in both. Says which template a URI belongs to, not what
// its variables are.

interface Run {
  /** Simple expressions stop where a part of a URI ends; those with an operator may hold anything, or be left out. */
  readonly simple: boolean;
}

/** A `{name}` stands for one or more characters other than `/`, `?` and `#`; an expression with an operator for any run, also none. */
export function matchesTemplate(template: string, uri: string): boolean {
  let places = new Set([0]);
  for (const token of tokensOf(template)) {
    places = typeof token === 'string' ? afterText(places, token, uri) : afterRun(places, token, uri);
    if (places.size === 0) return false;
  }
  return places.has(uri.length);
}

function tokensOf(template: string): (string | Run)[] {
  return template
    .split(/(\{[^{}]*\})/)
    .filter((part) => part !== '')
    .map((part) => (part.startsWith('{') && part.endsWith('}') ? { simple: /^\{\w/.test(part) } : part));
}

function afterText(places: ReadonlySet<number>, text: string, uri: string): Set<number> {
  return new Set([...places].filter((place) => uri.startsWith(text, place)).map((place) => place + text.length));
}

function afterRun(places: ReadonlySet<number>, { simple }: Run, uri: string): Set<number> {
  const after = new Set<number>(simple ? [] : places);
  let running = false;
  for (let place = 0; place < uri.length; place += 1) {
    running = (running || places.has(place)) && !(simple && '/?#'.includes(uri.charAt(place)));
    if (running) after.add(place + 1);
  }
  return after;
}
