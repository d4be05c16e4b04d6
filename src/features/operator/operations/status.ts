// operator.status: is there somebody who can decide, and with which key?
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import type { Operator } from '../operator.ts';

const input = z.strictObject({});

const output = z.strictObject({
  installation: z.string(),
  exists: z.boolean(),
  key_id: z.string().optional(),
  public_key: z.string().optional(),
  created_at: z.string().optional(),
});

export function statusOperation({ operator }: { readonly operator: Operator }) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'operator.status',
    summary: 'Show whether there is an operator and which key decides.',
    input,
    output,
    effect: 'look',
    access: 'local',
    command: { words: 'operator status' },
    run() {
      const { installation } = operator;
      const key = operator.key();
      if (key === undefined) return Promise.resolve({ installation, exists: false });
      const { keyId: key_id, publicKey: public_key, createdAt: created_at } = key;
      return Promise.resolve({ installation, exists: true, key_id, public_key, created_at });
    },
  });
}
