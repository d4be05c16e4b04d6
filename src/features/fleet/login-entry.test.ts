import { expect, it } from 'vitest';
import { loginProblem } from './login-entry.ts';

const sts = {
  type: 'aws_sts',
  secretRef: 'key',
  roleArn: 'arn:aws:iam::123456789012:role/reader',
  region: 'eu-central-1',
} as const;
const jwt = { type: 'jwt', secretRef: 'key' } as const;

it('[MINT-6] keys of AWS go to programs only, and a minted token to a program of one agent', () => {
  expect(loginProblem(sts, 'http', 'shared')).toContain('variables of a program');
  expect(loginProblem(sts, 'stdio', 'agent')).toBeUndefined();
  expect(loginProblem(jwt, 'http', 'shared')).toBeUndefined();
  expect(loginProblem(jwt, 'stdio', 'session')).toBeUndefined();
  expect(loginProblem(jwt, 'stdio', 'shared')).toContain('set sharing to agent or session');
});
