import type { Operator } from './operator.ts';
import type { Settings } from './settings.ts';

/** The operator's maximum values; a repository's settings are lowered to them. */
export interface Ceilings {
  readonly candidates: number;
  /** US dollars. */
  readonly budgetRun: number;
  /** US dollars. */
  readonly budgetCandidate: number;
  /** For one coder, and for one build or run of the tests. */
  readonly timeoutCandidateSeconds: number;
  /** Maximum working time of a run, all stages together. */
  readonly runSeconds: number;
  /** Tokens for one coder whose model has no known price; absent: such models are rejected. */
  readonly tokensCandidate?: number;
  /** False: no debates, whatever a repository's settings. */
  readonly debates: boolean;
  /** `host` (port 443) or `host:port` names that setup commands may reach. */
  readonly networkAllow: readonly string[];
  readonly day: DayCaps;
}

/** Maximum runs started on GitHub in one day (UTC). The gateway enforces the dollars of a repository's day. */
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

/** Lowers values above a ceiling; `lowered` has one sentence per change, for people. */
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
    // A coder can never spend more than its run, so this needs no message.
    budget: {
      run,
      candidate: Math.min(candidate, run),
      ...cappedTokens(budget.tokens, ceilings.tokensCandidate, lowered),
    },
    network: { ...network, allow },
    // A repair is another turn of an existing contestant; an additional contestant is one more. Neither is a default.
    adaptive: { ...adaptive, oneMore: adaptive.oneMore && settings.candidates < ceilings.candidates },
  };
  return { settings: capped, lowered };
}

/** Models of unknown price need the operator's permission: a dollar limit cannot be enforced for them. */
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

/** How long something has been unused. */
interface Unused {
  readonly ms: number;
  /** In words: `two weeks`. */
  readonly label: string;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Checkouts, installed dependencies and mirrors are removed after this time in any case. Default. */
export const LONG_UNUSED: Unused = { ms: 14 * DAY, label: 'two weeks' };

/**
 * Age limits for successive removals while a quota is exceeded. Defaults; the last keeps what a stage has just
 * prepared.
 */
const NEARER: readonly Unused[] = [
  LONG_UNUSED,
  { ms: 3 * DAY, label: 'three days' },
  { ms: DAY, label: 'a day' },
  { ms: 6 * HOUR, label: 'six hours' },
  { ms: 10 * MINUTE, label: 'ten minutes' },
];

type QuotaStep =
  | { readonly kind: 'fits' }
  /** Remove data unused for this long, then measure again. */
  | { readonly kind: 'prune'; readonly unused: Unused }
  /** Nothing is left to remove: no further run may begin. */
  | { readonly kind: 'full'; readonly why: string };

/**
 * The next action for a folder. `used` and `most`: bytes; `pruned`: number of removals since it was found too large.
 */
export function quotaStep(used: number, most: number, pruned: number): QuotaStep {
  if (used <= most) return { kind: 'fits' };
  const unused = NEARER[pruned];
  if (unused) return { kind: 'prune', unused };
  return {
    kind: 'full',
    why: `The data folder of this machine has reached MAX_DISK (${sized(used)} of ${sized(most)}); no further run starts until runs end, or its operator frees space or raises it.`,
  };
}

/** `512 MB`, `1.5 GB`. */
export const sized = (bytes: number): string =>
  bytes < 1e9 ? `${(bytes / 1e6).toFixed(0)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;

/** Maximum extension of a coder's wall time while it makes progress. Default, to be tuned on dev data. */
const MAX_EXTENSION_FACTOR = 1.5;
/** Share of the wall time added each time. Default. */
const STEP = 1 / 4;

/** The time limits of one coder, milliseconds. */
export interface Times {
  readonly wallMs: number;
  readonly silenceMs: number;
  /** Maximum time including extensions. */
  readonly mostMs: number;
}

/** `ceilingSeconds`: the operator's maximum for a coder. */
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

/** The same, for a coder whose run has `leftMs` milliseconds left. */
export const timesWithin = (times: Times, leftMs: number): Times => ({
  ...times,
  wallMs: Math.min(times.wallMs, leftMs),
  mostMs: Math.min(times.mostMs, leftMs),
});

/**
 * Milliseconds that a coder gets when its wall time is over; 0 to stop it. It must have done something new within the
 * silence limit: a coder that repeats itself makes no progress.
 */
export function moreTime(
  times: Times,
  now: { readonly elapsedMs: number; readonly sinceProgressMs: number },
): number {
  if (now.sinceProgressMs > times.silenceMs) return 0;
  return Math.max(0, Math.min(times.wallMs * STEP, times.mostMs - now.elapsedMs));
}

/** Remaining milliseconds of silence; 0 to stop the coder. A response of a model counts as activity. */
export function moreSilence(times: Times, sinceActivityMs: number): number {
  return Math.max(0, times.silenceMs - sinceActivityMs);
}
