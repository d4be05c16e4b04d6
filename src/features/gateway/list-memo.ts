// Lists as one agent sees them at one endpoint, drawn once and kept until something they follow from changes.
import type { ListName, ToolScope } from '../../kernel/dispatch.ts';

export interface ListMemo {
  of(
    key: { readonly agent: string; readonly scope: ToolScope; readonly list: ListName },
    draw: () => readonly string[],
  ): readonly string[];
  forget(): void;
}

/** An agent may name endpoints without end. */
const mostKept = 1_000;

export function createListMemo(): ListMemo {
  const drawn = new Map<string, readonly string[]>();
  return {
    of({ agent, scope, list }, draw) {
      const key = `${agent}\n${list}\n${scope.kind}\n${scope.kind === 'upstream' ? scope.upstream : ''}`;
      let texts = drawn.get(key);
      if (texts === undefined) {
        texts = draw();
        if (drawn.size >= mostKept) drawn.clear();
        drawn.set(key, texts);
      }
      return texts;
    },
    forget: () => drawn.clear(),
  };
}
