// What an agent is told to do after a denial, one sentence for each code; the gate contract's own words where it has some.
import type { Verdict } from '../policy/model.ts';

export function adviceOn({ code, hard }: Extract<Verdict, { effect: 'deny' }>): string {
  if (hard) return 'Hard limit — do NOT attempt this in any form; only a human policy change would allow it.';
  if (code === 'no_rule') return 'Call scopegate_propose_policy with a justification; a human will review it.';
  if (code === 'invalid_ttl') return "Ask again with a ttl of the form '<n>s', '<n>m' or '<n>h'.";
  if (code === 'invalid_capability') return 'Ask again with a capability of the form <upstream>:<action>:<resource>.';
  return 'Tell the human what the reason says; only they can change it.';
}
