// What a protected resource says when it turns a request away: the Bearer challenge of `WWW-Authenticate` (RFC 9110 §11.6.1, RFC 6750 §3,
// RFC 9728 §5.1). Text of a stranger; believes none of it.

export interface BearerChallenge {
  readonly resourceMetadata?: string;
  readonly scopes?: readonly string[];
  /** Such as `insufficient_scope`. */
  readonly error?: string;
}

const longest = 8_192;
const separators = /[\s,]*/y;
const parameter = /([\w!#$%&'*+.^`|~-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))/y;
const schemeName = /[\w!#$%&'*+.^`|~-]+/y;

/** The first Bearer challenge of the header; `undefined` without one. Other schemes and what is no challenge are passed over. */
export function bearerChallenge(header: string | undefined): BearerChallenge | undefined {
  const params = header === undefined || header.length > longest ? undefined : bearerParameters(header);
  if (params === undefined) return undefined;
  const [resourceMetadata, scope, error] = ['resource_metadata', 'scope', 'error'].map((name) => params.get(name));
  const scopes = scope === undefined ? undefined : scopesIn(scope);
  return {
    ...(resourceMetadata !== undefined && { resourceMetadata }),
    ...(scopes !== undefined && { scopes }),
    ...(error !== undefined && { error }),
  };
}

function bearerParameters(header: string): Map<string, string> | undefined {
  let params: Map<string, string> | undefined;
  let inBearer = false;
  for (let at = 0; at < header.length;) {
    at = endOf(separators, header, at)?.end ?? at;
    const found = endOf(parameter, header, at);
    if (found !== undefined) {
      const [, name = '', quoted, plain = ''] = found.match;
      // What is said twice is taken as it was said first.
      if (inBearer && params?.has(name.toLowerCase()) === false) {
        params.set(name.toLowerCase(), quoted === undefined ? plain : quoted.replace(/\\(.)/g, '$1'));
      }
      at = found.end;
      continue;
    }
    const scheme = endOf(schemeName, header, at);
    if (scheme === undefined) break;
    if (params !== undefined) inBearer = false;
    else if (scheme.match[0].toLowerCase() === 'bearer') {
      params = new Map();
      inBearer = true;
    }
    at = scheme.end;
  }
  return params;
}

function endOf(pattern: RegExp, text: string, at: number): { readonly match: RegExpExecArray; readonly end: number } | undefined {
  pattern.lastIndex = at;
  const match = pattern.exec(text);
  return match === null ? undefined : { match, end: pattern.lastIndex };
}

/** RFC 6749 §3.3: names between spaces; others than those of the grammar are left out. */
export function scopesIn(text: string): readonly string[] {
  return [...new Set(text.split(' ').filter((name) => /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/.test(name)))].slice(0, 128);
}
