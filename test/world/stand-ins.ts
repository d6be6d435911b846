import { NO_USAGE, type Usage } from '../../src/core/model/index.ts';
import type { Clock, Coder, Grant, Lease } from '../../src/ports/index.ts';
import type { Announcer } from '../../src/runs/index.ts';

/** Nobody is told anything. */
export const quietAnnouncer: Announcer = { soon() {}, async finish() {}, async idle() {} };

/** The real clock of the machine, or one that stands at `now`; it never sleeps. */
export const clockAt = (now: () => number = () => Date.now()): Clock => ({
  now,
  elapsed: () => performance.now(),
  sleep: async () => {},
});

/** A coder whose program is `coder`. */
export const coderNamed = (name: string, protocols: Coder['protocols'] = ['anthropic']): Coder => ({
  name,
  protocols,
  wantsArgv: false,
  experimental: false,
  launch: ({ prompt }) => ({ argv: ['coder'], env: {}, stdin: prompt }),
  read: () => [],
  version: async () => '1',
  trial: () => null,
});

/** Leases without a gateway; a scripted model looks up whom it answers. */
export function openLeases() {
  const grants = new WeakMap<Lease, Grant>();
  return {
    lease(grant: Grant, usage: () => Usage = () => NO_USAGE): Lease {
      const lease: Lease = {
        socket: '/nowhere',
        key: 'key',
        usage,
        refusal: () => null,
        capReached: () => null,
        lastActivity: () => null,
        async close() {},
      };
      grants.set(lease, grant);
      return lease;
    },
    grantOf(lease: Lease): Grant {
      const grant = grants.get(lease);
      if (!grant) throw new Error('Nobody opened this lease.');
      return grant;
    },
  };
}
