import { expect, it } from 'vitest';
import { loginProblem } from './login-entry.ts';

const sts = {
  type: 'aws_sts',
  secretRef: 'key',
  roleArn: 'arn:aws:iam::123456789012:role/reader',
  region: 'eu-central-1',
} as const;
const jwt = { type: 'jwt', secretRef: 'key' } as const;
const web = { kind: 'http', headers: {} } as const;
const program = { kind: 'stdio' } as const;
const none = { env: {}, envPassthrough: [] };

it('[MINT-6] keys of AWS go to programs only, and a minted token to a program of one agent', () => {
  expect(loginProblem({ auth: sts, transport: web, sharing: 'shared', ...none })).toContain('variables of a program');
  expect(loginProblem({ auth: sts, transport: program, sharing: 'agent', ...none })).toBeUndefined();
  expect(loginProblem({ auth: jwt, transport: web, sharing: 'shared', ...none })).toBeUndefined();
  expect(loginProblem({ auth: jwt, transport: program, sharing: 'session', ...none })).toBeUndefined();
  expect(loginProblem({ auth: jwt, transport: program, sharing: 'shared', ...none })).toContain('set sharing to agent or session');
});

it('[MINT-6] a minted token and a fixed header do not share one place', () => {
  const transport = { kind: 'http', headers: { AUTHORIZATION: 'Basic eA==' } } as const;
  expect(loginProblem({ auth: jwt, transport, sharing: 'shared', ...none })).toContain('Authorization');
});
