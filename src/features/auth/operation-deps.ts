// What the operations of this slice need.
import type { TokenHttp } from '../../kernel/ports.ts';
import type { Vault } from '../vault/vault.ts';
import type { OAuthLogins } from './oauth2/oauth2.ts';

export interface AuthOperationDeps {
  readonly logins: OAuthLogins;
  readonly vault: Pick<Vault, 'known' | 'logins'>;
  readonly http: TokenHttp;
}
