// Everything upstreams offer besides tools, as one list of each kind, and the prompt a name at `/mcp` means. Drawn once for each change.
// Whether anybody may see or have any of it is not its business.
import type { Digest } from '../../kernel/ports.ts';
import { listedAs } from './definition.ts';
import type { ListedPrompt, Naming, Offer, OfferList } from './model.ts';
import type { Offers } from './offers.ts';
import { assignNames } from './tool-names.ts';

export interface OfferCatalog {
  /** In the order of their names. */
  prompts(): readonly ListedPrompt[];
  /** Upstreams in the order of their names, within each in its own order. */
  of(list: Exclude<OfferList, 'prompts'>): readonly Offer[];
  /** By the listed name. */
  promptNamed(name: string): ListedPrompt | undefined;
  /** By upstream and its own name for it. */
  prompt(upstream: string, key: string): ListedPrompt | undefined;
  /** What is offered, or by whom, may have changed. */
  forget(): void;
}

export interface OfferCatalogDeps {
  /** By the names of the upstreams. */
  readonly offers: () => ReadonlyMap<string, Offers>;
  readonly naming: Naming;
  readonly digest: Digest;
}

interface Drawing {
  readonly prompts: readonly ListedPrompt[];
  readonly byName: ReadonlyMap<string, ListedPrompt>;
  readonly byKey: ReadonlyMap<string, ListedPrompt>;
  readonly resources: readonly Offer[];
  readonly resourceTemplates: readonly Offer[];
}

export function createOfferCatalog({ offers, naming, digest }: OfferCatalogDeps): OfferCatalog {
  let drawing: Drawing | undefined;

  function draw(): Drawing {
    const upstreams = [...offers()].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, own]) => own);
    const all = (list: OfferList): Offer[] => upstreams.flatMap((own) => own.of(list));
    const named = assignNames(
      all('prompts').map((offer) => ({ upstream: offer.upstream, tool: offer.key, offer })),
      naming,
      digest,
    );
    const prompts = [...named]
      .map(([{ offer }, name]): ListedPrompt => ({ ...offer, name, listed: listedAs(offer.text, name) }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
    return {
      prompts,
      byName: new Map(prompts.map((prompt) => [prompt.name, prompt])),
      byKey: new Map(prompts.map((prompt) => [placeOf(prompt.upstream, prompt.key), prompt])),
      resources: all('resources'),
      resourceTemplates: all('resourceTemplates'),
    };
  }

  const drawn = (): Drawing => (drawing ??= draw());

  return {
    prompts: () => drawn().prompts,
    of: (list) => drawn()[list],
    promptNamed: (name) => drawn().byName.get(name),
    prompt: (upstream, key) => drawn().byKey.get(placeOf(upstream, key)),
    forget() {
      drawing = undefined;
    },
  };
}

/** No name of an upstream holds a colon. */
function placeOf(upstream: string, key: string): string {
  return `${upstream}:${key}`;
}
