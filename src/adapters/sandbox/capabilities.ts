import { readFileSync } from 'node:fs';
import type { Owner } from './processes.ts';

/** What root needs in order to look at processes of another user, and to end them: bits of linux/capability.h. */
const NEEDED_OF_ROOT = { SYS_PTRACE: 19, KILL: 5 } as const;

/**
 * Why Runoff as root can neither watch nor end what its sandboxes' user runs; null if it can. Container engines give
 * root fewer capabilities than the kernel does.
 */
export function lackOfCapabilities(
  owner: Owner | null,
): { readonly why: string; readonly remedy: string } | null {
  if (owner === null || process.getuid?.() !== 0) return null;
  const mask = BigInt(
    `0x${/^CapEff:\s+([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0}`,
  );
  const missing = Object.entries(NEEDED_OF_ROOT)
    .filter(([, bit]) => ((mask >> BigInt(bit)) & 1n) === 0n)
    .map(([name]) => name);
  if (missing.length === 0) return null;
  return {
    why: `Runoff runs as root without the capability ${missing.join(' and ')}: it could not keep the sandboxes' user (uid ${owner.uid}) within its limits.`,
    remedy: `Start Runoff as an ordinary user, or give it ${missing.map((name) => `CAP_${name}`).join(' and ')}.`,
  };
}
