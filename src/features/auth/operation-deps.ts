// What the operations of this slice need.
import type { TokenHttp } from '../../kernel/ports.ts';
import type { VaultKeeping } from '../vault/vault.ts';
import type { OAuthLogins } from './oauth2/oauth2.ts';

export interface AuthOperationDeps {
  readonly logins: OAuthLogins;
  readonly vault: Pick<VaultKeeping, 'known' | 'logins' | 'state' | 'slots'>;
  readonly http: TokenHttp;
}
