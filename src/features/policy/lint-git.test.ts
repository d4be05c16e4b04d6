import { expect, it } from 'vitest';
import { policyFile } from '../../../test/support/policy-engine.ts';
import { lint } from './lint.ts';

it('[GIT-5] a rule or deny for git in capitals, which meets nothing, is remarked with the spelling that does', () => {
  const policy = policyFile(`version: 1
limits: { deny: ['git:credential:github.com/Acme/secret*'] }
agents:
  '*':
    limits: { deny: ['git:credential:*/acme/PLANS'] }
    capabilities:
      - { match: 'git:credential:github.com/acme/*', effect: allow }
      - { match: 'git:credential:GitHub.com/beta/*', effect: ask }
`);
  expect(lint(policy).map(({ severity, line, hint }) => [severity, line, hint])).toEqual([
    ['warning', 2, 'Write git:credential:github.com/acme/secret*'],
    ['warning', 5, 'Write git:credential:*/acme/plans'],
    ['warning', 8, 'Write git:credential:github.com/beta/*'],
  ]);
});
