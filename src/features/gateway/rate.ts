// `limits.rate_limit`: requests for capabilities and new escalations in a sliding window, per agent. Calls under a grant are not
// counted (DESIGN §2). In memory only: a restart forgives.
import { AppError } from '../../kernel/errors.ts';
import type { Clock } from '../../kernel/ports.ts';
import type { Limits } from '../policy/model.ts';

export interface Rate {
  /** Counts one request, or throws `gateway.rate_limited` with the time until the oldest one leaves the window. */
  take(agent: string, limit: Limits['rate']): void;
}

export function createRate(clock: Clock): Rate {
  const taken = new Map<string, number[]>();
  return {
    take(agent, limit) {
      const now = clock.monotonic();
      const recent = (taken.get(agent) ?? []).filter((at) => now - at < limit.perMs);
      const oldest = recent[recent.length - limit.count];
      if (oldest !== undefined) {
        taken.set(agent, recent);
        throw new AppError('limited', 'gateway.rate_limited', `Rate limit ${limit.text} reached for agent '${agent}'.`, {
          hint: 'Wait, then ask again; capabilities already granted are not limited.',
          retryAfterMs: Math.max(1, limit.perMs - (now - oldest)),
        });
      }
      recent.push(now);
      taken.set(agent, recent);
    },
  };
}
