// Who a browser says it is talking to, and on whose behalf: exact Host and Origin on every route (DESIGN §5), which is what stops
// DNS rebinding and foreign pages. Pure.

/** `url` is the door's own origin, e.g. `http://a1b2.localhost:7078`. The reason of the refusal, or `undefined` when it may pass. */
export function refusalOf(
  url: string,
  headers: { readonly host: string | undefined; readonly origin: string | undefined },
): 'host' | 'origin' | undefined {
  const { host, origin } = new URL(url);
  if (headers.host !== host) return 'host';
  // Absent on plain navigation and from programs; `null` is an opaque origin and no friend of ours.
  if (headers.origin !== undefined && headers.origin !== origin) return 'origin';
  return undefined;
}
