// The face of the defences slice: decoys and what happens to whoever touches one, taint, and what counts as a write.
import type { Database } from '../../kernel/database.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Json } from '../../kernel/json.ts';
import type { Clock, Entropy, Log, VaultCipher } from '../../kernel/ports.ts';
import type { Agents } from '../agents/agents.ts';
import type { Audit } from '../audit/audit.ts';
import type { AuditEntry } from '../audit/model.ts';
import type { Vault } from '../vault/vault.ts';
import { createDecoySeal } from './decoy-seal.ts';
import { createDecoys, type DecoyKeeping, type Decoys } from './decoys.ts';
import { createDefenceSettings, type DefenceSettings } from './defence-settings.ts';
import type { Trigger } from './model.ts';
import { createTaint, type Taint } from './taint.ts';

export interface Defences {
  readonly decoys: Decoys;
  readonly taint: Taint;
  readonly settings: Pick<DefenceSettings, 'modes' | 'effects' | 'effectOf'>;
  /**
   * Throws `defences.honeytoken` when what an agent sent touches a decoy, after what that means for the agent was done, and
   * `defences.locked`. Needed only while `decoys.armed`. `names`: its texts may mean secrets.
   */
  inspect(agent: string, through: string, sent: readonly (Json | undefined)[], names: boolean): Promise<void>;
  /** The vault for whatever hands values on: reading a decoy is refused, and told. */
  guarded<V extends Pick<Vault, 'values'>>(vault: V): V;
}

/** What only this slice's own operations may do; the gateway has checked who may. */
export interface DefenceKeeping extends Defences {
  readonly decoys: DecoyKeeping;
  readonly settings: DefenceSettings;
}

export interface DefenceDeps {
  readonly db: Database;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly cipher: Pick<VaultCipher, 'seal' | 'open'>;
  /** 32 bytes that the daemon keeps, for the rows of decoys. */
  readonly key: Uint8Array;
  readonly vault: Pick<Vault, 'known'>;
  readonly agents: Pick<Agents, 'suspendAtOnce'>;
  readonly log: Log;
}

export async function createDefences(deps: DefenceDeps): Promise<DefenceKeeping> {
  const { db, audit, clock, entropy, cipher, key, vault, agents, log } = deps;
  const seal = createDecoySeal(cipher, entropy, key);
  const settings = await createDefenceSettings({ db, audit });
  const decoys = await createDecoys({ db, audit, entropy, seal, known: (ref) => vault.known(ref) });
  const taint = await createTaint({ db, audit, clock, log, settings });

  /** Suspends first: that must not wait for the record, nor fail with it. */
  async function trigger({ agent, ref, vector, through }: Trigger): Promise<AppError> {
    const mode = settings.modes().honeytokens;
    log.warn('a honeytoken was touched', { agent: agent ?? 'none', vector, mode });
    const suspended = agent !== undefined && mode === 'enforce';
    const suspension = suspended ? agents.suspendAtOnce(agent, `honeytoken '${ref}' (${vector})`) : undefined;
    record({
      event: 'honeytoken.triggered',
      actor: agent === undefined ? 'daemon' : `agent:${agent}`,
      facts: { ref, vector, mode },
      sealed: { through },
    });
    await suspension;
    return touched(agent, ref, through, suspended);
  }

  function record(entry: AuditEntry): void {
    try {
      audit.append(entry);
    } catch (thrown) {
      log.error('a honeytoken was touched, and the record is not to be had', { cause: String(thrown) });
    }
  }

  return {
    decoys,
    taint,
    settings,
    async inspect(agent, through, sent, names) {
      decoys.assertReadable();
      for (const value of sent) {
        const found = value === undefined ? undefined : decoys.foundIn(value, names);
        if (found !== undefined) throw await trigger({ agent, ...found, through });
      }
    },
    guarded: (inner) => ({
      ...inner,
      async values(refs, patience) {
        decoys.assertReadable();
        const ref = refs.find((one) => decoys.has(one));
        if (ref !== undefined) throw await trigger({ agent: patience.agent, ref, vector: 'secret_read', through: 'vault' });
        return inner.values(refs, patience);
      },
    }),
  };
}

/** The sentences of the gate contract (scopegate_request_capability and scopegate_register_upstream, Tool errors). */
function touched(agent: string | undefined, ref: string, through: string, suspended: boolean): AppError {
  const said = through.endsWith('register_upstream')
    ? `Registration denied: '${ref}' is a honeytoken.`
    : `The call of ${through.slice(0, 128)} references honeytoken '${ref}'.`;
  const after = suspended ? `; agent '${agent}' is suspended until a human has looked at it.` : '.';
  return new AppError('denied', 'defences.honeytoken', `${said} The incident is recorded${after}`, {
    hint: 'Stop, and tell the human.',
  });
}
