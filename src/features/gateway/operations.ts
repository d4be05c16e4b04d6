// The gateway's own operations.
import type { Operation } from '../../kernel/operation.ts';
import { canI } from './operations/can-i.ts';
import { gitCredential, type GitCredentialDeps } from './operations/git-credential.ts';
import { gitForget } from './operations/git-forget.ts';
import { injectFile, type InjectFileDeps } from './operations/inject-file.ts';
import { proposePolicy, type ProposeDeps } from './operations/propose-policy.ts';
import { registerUpstream, type RegisterDeps } from './operations/register-upstream.ts';
import { requestCapabilities } from './operations/request-capabilities.ts';
import { requestCapability, type RequestDeps } from './operations/request-capability.ts';

export function gatewayOperations(
  deps: RequestDeps & ProposeDeps & InjectFileDeps & GitCredentialDeps & RegisterDeps,
): Operation[] {
  return [
    requestCapability(deps),
    requestCapabilities(deps),
    canI(deps),
    proposePolicy(deps),
    injectFile(deps),
    registerUpstream(deps),
    gitCredential(deps),
    gitForget(deps),
  ];
}
