// Does anything an agent sent name a decoy or carry its value? One pass over each text, whatever the decoys are. Punishes nobody.
import type { Json } from '../../kernel/json.ts';
import { encodeBase64 } from '../../lib/base64.ts';
import { encodeHex } from '../../lib/base64url.ts';
import { createMultiPattern } from '../../lib/multi-pattern.ts';
import type { Decoy } from './model.ts';

export interface DecoySearch {
  /** The decoy whose value is in a text of this, raw, in base64 (wherever it begins) or in hex. */
  valueIn(value: Json): string | undefined;
  /** The decoy that a text of this names as a secret: by itself, in a list, or at the end of a capability. */
  nameIn(value: Json): string | undefined;
}

const longestName = 128;

/** `known`: real secrets, whose names may end like that of a decoy. */
export function createDecoySearch(decoys: readonly Decoy[], known: (ref: string) => boolean): DecoySearch {
  const forms = decoys.flatMap(({ ref, value }) => formsOf(value).map((form) => ({ ref, form })));
  const values = createMultiPattern(forms.map(({ form }) => form));
  const names = new Set(decoys.map(({ ref }) => ref));

  function named(text: string): string | undefined {
    for (const [word] of text.matchAll(/[a-z0-9_.:-]+/g)) {
      const whole = word.replace(/[.:-]+$/, '');
      // A capability, `vault:name` or the name alone: what follows each colon could be a name, the longest first.
      for (let at = Math.max(0, whole.length - longestName); at < whole.length; at += 1) {
        if (at > 0 && whole[at - 1] !== ':') continue;
        const name = whole.slice(at);
        if (names.has(name)) return name;
        if (known(name)) break;
      }
    }
    return undefined;
  }

  return {
    valueIn: (value) =>
      firstOf(value, (text) => {
        const found = values.firstIn(text);
        return found === undefined ? undefined : forms[found]?.ref;
      }),
    nameIn: (value) => firstOf(value, named),
  };
}

/** Texts and names of members, without recursion: how deep an agent nests is the agent's choice. */
function firstOf(value: Json, look: (text: string) => string | undefined): string | undefined {
  const left: Json[] = [value];
  for (;;) {
    const next = left.pop();
    if (next === undefined) return undefined;
    if (typeof next === 'string') {
      const found = look(next);
      if (found !== undefined) return found;
    } else if (Array.isArray(next)) {
      for (const item of next as readonly Json[]) left.push(item);
    } else if (typeof next === 'object' && next !== null) {
      for (const [name, member] of Object.entries(next)) left.push(name, member);
    }
  }
}

/** In base64 the same bytes have three spellings, by where they begin; what its neighbours have a part in is left off. */
function formsOf(value: string): string[] {
  const bytes = new TextEncoder().encode(value);
  const encoded = [0, 1, 2].map((before) => {
    const text = encodeBase64(Uint8Array.from([...new Uint8Array(before), ...bytes]));
    return text.slice(before === 0 ? 0 : before + 1, Math.floor(((before + bytes.length) * 8) / 6));
  });
  const hex = encodeHex(bytes);
  return [value, ...encoded, ...encoded.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')), hex, hex.toUpperCase()];
}
