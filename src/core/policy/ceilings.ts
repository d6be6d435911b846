import type { Operator } from './operator.ts';
import type { Settings } from './settings.ts';

/** What the operator allows at most; a repository's settings are lowered to it. */
export interface Ceilings {
  readonly candidates: number;
  /** US dollars. */
  readonly budgetRun: number;
  /** US dollars. */
  readonly budgetCandidate: number;
  /** For one coder, and for one build or run of the tests. */
  readonly timeoutCandidateSeconds: number;
  /** `host` (port 443) or `host:port` names that setup commands may reach. */
  readonly networkAllow: readonly string[];
}

export const ceilingsOf = (operator: Operator): Ceilings => ({
  candidates: operator.multiAgent.enabled ? operator.max.candidates : 1,
  budgetRun: operator.max.budgetRun,
  budgetCandidate: operator.max.budgetCandidate,
  timeoutCandidateSeconds: operator.max.timeoutSeconds,
  networkAllow: operator.networkAllow,
});

const withPort = (host: string): string => (host.includes(':') ? host : `${host}:443`);

/** Lowers what is above a ceiling; `lowered` has a sentence for each, for people. */
export function capSettings(
  settings: Settings,
  ceilings: Ceilings,
): { readonly settings: Settings; readonly lowered: readonly string[] } {
  const lowered: string[] = [];
  const cap = (name: string, wanted: number, ceiling: number, unit = ''): number => {
    if (wanted <= ceiling) return wanted;
    lowered.push(
      `${name} was lowered from ${wanted}${unit} to ${ceiling}${unit}, the most this server allows.`,
    );
    return ceiling;
  };
  const { timeout, budget, network } = settings;
  const seconds = ceilings.timeoutCandidateSeconds;
  const run = cap('budget.run', budget.run, ceilings.budgetRun, ' US dollars');
  const candidate = cap('budget.candidate', budget.candidate, ceilings.budgetCandidate, ' US dollars');
  const reachable = new Set(ceilings.networkAllow.map(withPort));
  const allow = network.allow.filter((host) => reachable.has(withPort(host)));
  for (const host of network.allow.filter((one) => !allow.includes(one))) {
    lowered.push(`network.allow: ${host} was left out, this server does not allow it.`);
  }
  const capped: Settings = {
    ...settings,
    candidates: cap('candidates', settings.candidates, ceilings.candidates),
    timeout: {
      candidate: cap('timeout.candidate', timeout.candidate, seconds, ' s'),
      silence: cap('timeout.silence', timeout.silence, seconds, ' s'),
      check: cap('timeout.check', timeout.check, seconds, ' s'),
    },
    // One coder can never spend more than its run may; that is no news for anyone.
    budget: { run, candidate: Math.min(candidate, run) },
    network: { allow },
  };
  return { settings: capped, lowered };
}
