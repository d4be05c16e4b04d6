// Puts what the gateway logs in with to the headers of each request, as it is at that moment. The lists that come of it are kept, since
// their lines are (http-request-text.ts). Knows no secret from another header.

/** Names and values in turn; the same list for as long as it stays what it is. */
export type LoginHeaders = readonly string[];

/** `own` is of the request itself and takes the place of what is of the connection. */
export type WithLogin = (headers: readonly string[], own?: LoginHeaders) => readonly string[];

/** `login` is of the connection; without one headers stay the lists they are. */
export function createWithLogin(login: (() => LoginHeaders) | undefined): WithLogin {
  const joined = new WeakMap<LoginHeaders, { readonly headers: readonly string[]; readonly list: readonly string[] }>();
  return (headers, own = login?.()) => {
    if (own === undefined || own.length === 0) return headers;
    const known = joined.get(own);
    if (known?.headers === headers) return known.list;
    const list = [...headers, ...own];
    joined.set(own, { headers, list });
    return list;
  };
}
