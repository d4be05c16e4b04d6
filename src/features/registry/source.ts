// Where a catalogue comes from that is not the package's: a folder or an https address, file by file, all of it bounded. Believes nothing.
import { AppError } from '../../kernel/errors.ts';
import type { Files, TokenHttp } from '../../kernel/ports.ts';
import { indexSchema, type CatalogueFiles } from './model.ts';
import { unverified } from './verify.ts';

export interface RegistrySettings {
  /** Of the key that signs it: 32 bytes in base64url. */
  readonly key: string;
  /** A folder, or the https address of one. */
  readonly place: { readonly path: string } | { readonly url: string };
}

export interface RegistrySource {
  /** For people. */
  readonly name: string;
  /** Rejects with `registry.unreachable`, or `registry.unverified` where there is nothing to read on from. */
  read(signal: AbortSignal): Promise<CatalogueFiles>;
}

const mostBytes = 1024 * 1024;
const timeoutMs = 15_000;

export function createSource(
  { place }: RegistrySettings,
  { files, http }: { readonly files: Pick<Files, 'readText'>; readonly http: TokenHttp },
): RegistrySource {
  const name = 'path' in place ? place.path : place.url;

  async function text(file: string, signal: AbortSignal): Promise<string> {
    const found = 'path' in place ? await files.readText(`${place.path}/${file}`) : await fetched(place.url, file, signal);
    if (found === undefined) throw unreachable(`${name} has no ${file}`);
    if (found.length > mostBytes) throw unverified(`${file} is longer than ${mostBytes} bytes`);
    return found;
  }

  async function fetched(url: string, file: string, signal: AbortSignal): Promise<string | undefined> {
    const address = `${url.replace(/\/$/, '')}/${file}`;
    const answer = await http
      .request({ url: address, method: 'GET', headers: { accept: '*/*' }, signal, timeoutMs, maxBytes: mostBytes })
      .catch((thrown: unknown) => {
        throw unreachable(`${address} gave no answer`, thrown);
      });
    if (answer.status === 404) return undefined;
    if (answer.status !== 200) throw unreachable(`${address} answered with HTTP ${answer.status}`);
    return answer.body;
  }

  return {
    name,
    async read(signal) {
      const [index, signature] = [await text('index.json', signal), await text('index.sig', signal)];
      const manifests: Record<string, string> = {};
      // Names from an index that nobody has verified yet: its schema lets none of them leave the folder.
      for (const file of filesOf(index)) manifests[file] = await text(file, signal);
      return { index, signature, manifests };
    },
  };
}

function filesOf(index: string): readonly string[] {
  try {
    const read = indexSchema.safeParse(JSON.parse(index));
    if (read.success) return [...new Set(Object.values(read.data.manifests).map(({ file }) => file))];
  } catch {
    // Told below.
  }
  throw unverified('the index does not fit registry/v1');
}

function unreachable(why: string, cause?: unknown): AppError {
  return new AppError('unavailable', 'registry.unreachable', `The catalogue cannot be read: ${why}.`, {
    hint: 'See registry in sallyport.yaml; the catalogue in force goes on.',
    ...(cause === undefined ? {} : { cause }),
  });
}
