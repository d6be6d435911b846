import { type Actor, type Alias, counted, type RunId, type Usd } from '../model/index.ts';
import { code } from './safe.ts';
import type { RunView } from './view.ts';

export { counted };

/** `0.4 s`, `42 s`, `3m 12s`, `1h 04m`; `–` for nothing. */
export function elapsed(ms: number): string {
  if (!Number.isFinite(ms) || ms <= 0) return '–';
  if (ms < 9_950) return `${(Math.max(ms, 50) / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${pad(seconds % 60)}s`;
  return `${Math.floor(minutes / 60)}h ${pad(minutes % 60)}m`;
}

const pad = (n: number): string => String(n).padStart(2, '0');

/** Dollars without the sign: cents, and four places where cents would read as nothing. */
export function dollars(usd: Usd): string {
  if (!Number.isFinite(usd) || usd <= 0) return '0.00';
  if (usd >= 0.01) return usd.toFixed(2);
  return usd < 0.0001 ? '0.0001' : usd.toFixed(4);
}

/** `$0.42`. At most one in a line of Markdown: GitHub may render text between two dollar signs as a formula. */
export const money = (usd: Usd): string => `$${dollars(usd)}`;

/** `$0.42` in Markdown, for a line that has a dollar sign already. */
export const escapedMoney = (usd: Usd): string => `<span>$</span>${dollars(usd)}`;

/** `812`, `12.3k`, `1.2M`. */
export function tokens(count: number): string {
  if (!Number.isFinite(count) || count <= 0) return '0';
  if (count < 1_000) return String(Math.round(count));
  if (count < 999_950) return `${(count / 1_000).toFixed(1)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

/** `+12 −3`. */
export const plusMinus = (change: { readonly additions: number; readonly deletions: number }): string =>
  `+${change.additions} −${change.deletions}`;

/** The first twelve digits: enough to find a commit by. */
export const shortSha = (sha: string): string => sha.slice(0, 12);

/** Code points of a login; GitHub allows 39. */
const LOGIN = 80;

/** A person in the middle of a sentence: the login in code, where nothing is a mention. `null`: the command line. */
export const personIn = (by: Actor | null): string =>
  by ? code(by.login, LOGIN) : 'somebody at the command line';

/** The same at the start of a sentence. */
export const personFirst = (by: Actor | null): string =>
  by ? code(by.login, LOGIN) : 'Somebody at the command line';

/** Where a candidate's commit lives on GitHub, e.g. `auto-dev/7/r7k2m9q4xa/B`. No text of the issue is in it. */
export const branchName = (issue: number, run: RunId, alias: Alias): string =>
  `auto-dev/${issue}/${run}/${alias}`;

/** Where a candidate's commit lives in a local repository, e.g. `runoff/r7k2m9q4xa/B`. */
export const localBranch = (run: RunId, alias: Alias): string => `runoff/${run}/${alias}`;

/** The branch that was made for a candidate, or null where there is none (yet). */
export const branchOf = (view: RunView, alias: Alias): string | null => view.outcome?.branches[alias] ?? null;
