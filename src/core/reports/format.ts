import type { Usd } from '../model/index.ts';

/** `0.4s`, `42s`, `3m 12s`, `1h 04m`; `–` for nothing. */
export function elapsed(ms: number): string {
  if (!Number.isFinite(ms) || ms <= 0) return '–';
  if (ms < 9_950) return `${(Math.max(ms, 50) / 1000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
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

/** `$0.42`. One in a line of Markdown at most: GitHub may read two dollar signs as a formula. */
export const money = (usd: Usd): string => `$${dollars(usd)}`;

/** `812`, `12.3k`, `1.2M`. */
export function tokens(count: number): string {
  if (!Number.isFinite(count) || count <= 0) return '0';
  if (count < 1_000) return String(Math.round(count));
  if (count < 999_950) return `${(count / 1_000).toFixed(1)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

/** `1 file`, `2 files`. */
export const counted = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;

/** `+12 −3`. */
export const plusMinus = (change: { readonly additions: number; readonly deletions: number }): string =>
  `+${change.additions} −${change.deletions}`;

/** The first twelve digits: enough to find a commit by. */
export const shortSha = (sha: string): string => sha.slice(0, 12);
