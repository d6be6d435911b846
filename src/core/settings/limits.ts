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
  /** That a run may work, all stages together. */
  readonly runSeconds: number;
  /** Tokens for one coder whose model has no known price; absent: such models are refused. */
  readonly tokensCandidate?: number;
  /** False: no debates, whatever a repository says. */
  readonly debates: boolean;
  /** `host` (port 443) or `host:port` names that setup commands may reach. */
  readonly networkAllow: readonly string[];
  readonly day: DayCaps;
}

/** What may start on GitHub in one day (UTC). What is spent on a repository's day is held by the gateway. */
export interface DayCaps {
  readonly runsOfRepository: number;
  readonly runsOfUser: number;
  readonly runsOfInstallation: number;
  /** US dollars. */
  readonly budgetOfUser: number;
  readonly budgetOfInstallation: number;
}

export const ceilingsOf = (operator: Operator): Ceilings => ({
  candidates: operator.multiAgent.enabled ? operator.max.candidates : 1,
  budgetRun: operator.max.budgetRun,
  budgetCandidate: operator.max.budgetCandidate,
  timeoutCandidateSeconds: operator.max.timeoutSeconds,
  runSeconds: operator.max.runSeconds,
  debates: operator.debates !== 'never',
  networkAllow: operator.networkAllow,
  day: {
    runsOfRepository: operator.max.runsRepositoryDay,
    runsOfUser: operator.max.runsUserDay,
    runsOfInstallation: operator.max.runsInstallationDay,
    budgetOfUser: operator.max.budgetUserDay,
    budgetOfInstallation: operator.max.budgetInstallationDay,
  },
  ...(operator.max.tokensCandidate ? { tokensCandidate: operator.max.tokensCandidate } : {}),
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
  const { timeout, budget, network, adaptive } = settings;
  const seconds = ceilings.timeoutCandidateSeconds;
  const run = cap('budget.run', budget.run, ceilings.budgetRun, ' US dollars');
  const candidate = cap('budget.candidate', budget.candidate, ceilings.budgetCandidate, ' US dollars');
  const reachable = new Set(ceilings.networkAllow.map(withPort));
  const allow = network.allow.filter((host) => reachable.has(withPort(host)));
  for (const host of network.allow.filter((one) => !allow.includes(one))) {
    lowered.push(`network.allow: ${host} was left out, this server does not allow it.`);
  }
  if (settings.debate === 'always' && !ceilings.debates) {
    lowered.push('debate was lowered from always to never: this server allows no debates.');
  }
  const capped: Settings = {
    ...settings,
    debate: ceilings.debates ? settings.debate : 'never',
    candidates: cap('candidates', settings.candidates, ceilings.candidates),
    timeout: {
      ...timeout,
      candidate: cap('timeout.candidate', timeout.candidate, seconds, ' s'),
      silence: cap('timeout.silence', timeout.silence, seconds, ' s'),
      check: cap('timeout.check', timeout.check, seconds, ' s'),
      ...(timeout.examine === undefined
        ? {}
        : { examine: cap('timeout.examine', timeout.examine, ceilings.runSeconds, ' s') }),
    },
    // One coder can never spend more than its run may; that is no news for anyone.
    budget: {
      run,
      candidate: Math.min(candidate, run),
      ...cappedTokens(budget.tokens, ceilings.tokensCandidate, lowered),
    },
    network: { ...network, allow },
    // A repair is another turn of a contestant who is there already; one more is one more. By default nobody asked for it.
    adaptive: { ...adaptive, oneMore: adaptive.oneMore && settings.candidates < ceilings.candidates },
  };
  return { settings: capped, lowered };
}

/** Without the operator's own word no model of unknown price is used: dollars could not be kept to. */
function cappedTokens(
  wanted: number | undefined,
  ceiling: number | undefined,
  lowered: string[],
): { readonly tokens?: number } {
  if (wanted === undefined) return {};
  if (ceiling === undefined) {
    lowered.push('budget.tokens was left out: this server allows no models without a known price.');
    return {};
  }
  if (wanted > ceiling) {
    lowered.push(`budget.tokens was lowered from ${wanted} to ${ceiling}, the most this server allows.`);
  }
  return { tokens: Math.min(wanted, ceiling) };
}

/** How long something has not been used. */
interface Unused {
  readonly ms: number;
  /** In words: `two weeks`. */
  readonly label: string;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Checkouts, installed dependencies and mirrors go after it in any case. Our default. */
export const LONG_UNUSED: Unused = { ms: 14 * DAY, label: 'two weeks' };

/** What goes while a quota is exceeded, step by step. Our defaults; the last keeps what a stage has just prepared. */
const NEARER: readonly Unused[] = [
  LONG_UNUSED,
  { ms: 3 * DAY, label: 'three days' },
  { ms: DAY, label: 'a day' },
  { ms: 6 * HOUR, label: 'six hours' },
  { ms: 10 * MINUTE, label: 'ten minutes' },
];

type QuotaStep =
  | { readonly kind: 'fits' }
  /** Remove what was not used for so long, and measure again. */
  | { readonly kind: 'prune'; readonly unused: Unused }
  /** There is nothing more to remove: no further run may begin. */
  | { readonly kind: 'full'; readonly why: string };

/** What to do about a folder. `used` and `most`: bytes; `pruned`: how many steps were taken since it was found too big. */
export function quotaStep(used: number, most: number, pruned: number): QuotaStep {
  if (used <= most) return { kind: 'fits' };
  const unused = NEARER[pruned];
  if (unused) return { kind: 'prune', unused };
  return {
    kind: 'full',
    why: `The data folder of this machine has reached MAX_DISK (${sized(used)} of ${sized(most)}); no further run starts until runs end, or its operator frees space or raises it.`,
  };
}

const sized = (bytes: number): string =>
  bytes < 1e9 ? `${(bytes / 1e6).toFixed(0)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;

/** How much longer than its wall time a coder may take while it makes progress. Our default, tune on dev data. */
const MAX_EXTENSION_FACTOR = 1.5;
/** Share of the wall time that is added each time. Our default. */
const STEP = 1 / 4;

/** The times of one coder, milliseconds. */
export interface Times {
  readonly wallMs: number;
  readonly silenceMs: number;
  /** The longest it may take, extensions included. */
  readonly mostMs: number;
}

/** `ceilingSeconds`: what the operator allows a coder at most. */
export function timesOf(
  timeout: { readonly candidate: number; readonly silence: number; readonly extendWhileProgressing: boolean },
  ceilingSeconds: number,
): Times {
  const wall = timeout.candidate;
  const most = timeout.extendWhileProgressing
    ? Math.min(wall * MAX_EXTENSION_FACTOR, Math.max(wall, ceilingSeconds))
    : wall;
  return { wallMs: wall * 1000, silenceMs: timeout.silence * 1000, mostMs: Math.floor(most * 1000) };
}

/** The same, for a coder whose run may work for `leftMs` milliseconds more. */
export const timesWithin = (times: Times, leftMs: number): Times => ({
  ...times,
  wallMs: Math.min(times.wallMs, leftMs),
  mostMs: Math.min(times.mostMs, leftMs),
});

/**
 * Milliseconds that a coder gets when its wall time is over; 0 when it has to stop. It must have done something new
 * within the time that counts as silence: one that repeats itself makes no progress.
 */
export function moreTime(
  times: Times,
  now: { readonly elapsedMs: number; readonly sinceProgressMs: number },
): number {
  if (now.sinceProgressMs > times.silenceMs) return 0;
  return Math.max(0, Math.min(times.wallMs * STEP, times.mostMs - now.elapsedMs));
}

/** Milliseconds that a coder may still be silent; 0 when it has to stop. A model that answers it counts as a sign of life. */
export function moreSilence(times: Times, sinceActivityMs: number): number {
  return Math.max(0, times.silenceMs - sinceActivityMs);
}
