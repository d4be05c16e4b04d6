// The providers that make a short-lived token of a key that upstreams never see, all of them.
import type { CredentialProvider } from './auth.ts';
import { createAwsSts } from './aws-sts.ts';
import { createGithubApp } from './github-app.ts';
import { createGoogleSa } from './google-sa.ts';
import { createHuly } from './huly.ts';
import { createJwt } from './jwt.ts';
import type { MintDeps } from './mint-exchange.ts';
import type { AuthType } from './model.ts';

export function createMinting(deps: MintDeps): readonly CredentialProvider<AuthType>[] {
  const providers = [createJwt(deps), createGithubApp(deps), createAwsSts(deps), createGoogleSa(deps), createHuly(deps)];
  // Found by their `type`, so that each is given entries of its own only.
  return providers as unknown as readonly CredentialProvider<AuthType>[];
}
