// What the operator set: how strict each defence is, and which tools write whatever they say of themselves. Each loosens something in one
// direction, so both are signed rows and no keys of a file that anybody of this user can edit.
import type { Database } from '../../kernel/database.ts';
import type { ToolAnnotations } from '../../kernel/operation.ts';
import type { Audit } from '../audit/audit.ts';
import type { Decision } from '../vault/model.ts';
import { AppError } from '../../kernel/errors.ts';
import { decoyModes, mostEffects, sideEffects, taintModes, usualModes, type Modes, type SideEffect } from './model.ts';
import { putSetting, readSettings, type SettingRow } from './store.ts';

export interface DefenceSettings {
  modes(): Modes;
  /** Sorted by capability. */
  effects(): ReadonlyMap<string, SideEffect>;
  /**
   * What a call of this capability counts as: what the operator said, else `read` where the accepted definition says so, else `write`.
   * The one answer for records, leases, taint and lists of what an agent did.
   */
  effectOf(capability: string, annotations: ToolAnnotations): SideEffect;
  setMode(name: keyof Modes, mode: string, by: Decision): Promise<void>;
  /** `undefined`: as its definition says again. */
  setEffect(capability: string, effect: SideEffect | undefined, by: Decision): Promise<void>;
}

export async function createDefenceSettings({
  db,
  audit,
}: {
  readonly db: Database;
  readonly audit: Audit;
}): Promise<DefenceSettings> {
  let modes = usualModes;
  let effects: ReadonlyMap<string, SideEffect> = new Map();
  take(await readSettings(db.queries));

  /** A value that is none of ours is the strictest one (DESIGN invariant 9). */
  function take(rows: readonly SettingRow[]): void {
    const values = new Map(rows.map(({ name, value }) => [name, value]));
    const mode = <M extends string>(name: string, known: readonly M[], usual: M): M => {
      const value = values.get(`mode:${name}`);
      return value === undefined ? usual : (known.find((one) => one === value) ?? ('enforce' as M));
    };
    modes = {
      honeytokens: mode('honeytokens', decoyModes, usualModes.honeytokens),
      taint: mode('taint', taintModes, usualModes.taint),
    };
    effects = new Map(
      rows
        .filter(({ name }) => name.startsWith('effect:'))
        .map(({ name, value }) => [name.slice('effect:'.length), sideEffects.find((one) => one === value) ?? 'write'] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    );
  }

  async function set(name: string, value: string | undefined, by: Decision): Promise<void> {
    try {
      await audit.commit(
        async (tx) => {
          await putSetting(tx, name, value);
          const facts = { setting: name, value: value ?? null, ...(by.proof && { proof: by.proof }) };
          return { value: undefined, entries: [{ event: 'defence.set', actor: by.actor, facts }] };
        },
        { decision: true },
      );
    } finally {
      take(await readSettings(db.queries));
    }
  }

  return {
    modes: () => modes,
    effects: () => effects,
    effectOf(capability, annotations) {
      const said = effects.size === 0 ? undefined : effects.get(capability);
      return said ?? (annotations.readOnlyHint === true ? 'read' : 'write');
    },
    setMode: (name, mode, by) => set(`mode:${name}`, mode, by),
    async setEffect(capability, effect, by) {
      if (effect !== undefined && effects.size >= mostEffects && !effects.has(capability))
        throw new AppError('limited', 'defences.too_many', `There are ${mostEffects} such settings already.`);
      await set(`effect:${capability}`, effect, by);
    },
  };
}
