import type { CiJob } from './ci-workflow.ts';
import { parseVersion } from './version-range.ts';

export const LANGUAGES = ['node', 'python', 'rust', 'go', 'java', 'ruby', 'php', 'dotnet'] as const;
export type RuntimeLanguage = (typeof LANGUAGES)[number];

/** A range of versions, and the file that requires it. */
export interface WantedVersion {
  /** As in the file, or what it means: `^20.9 || >=22`, `20`, `1.75`; `stable` and `nightly` for Rust. */
  readonly range: string;
  readonly file: string;
}

/** Node's long-term releases, by their names in `.nvmrc`. */
const LTS: Readonly<Record<string, string>> = {
  '*': '24',
  argon: '4',
  boron: '6',
  carbon: '8',
  dubnium: '10',
  erbium: '12',
  fermium: '14',
  gallium: '16',
  hydrogen: '18',
  iron: '20',
  jod: '22',
  krypton: '24',
};

/**
 * A pinned version as a range: newer ones of the same major version (minor version, for Python) are accepted. Null:
 * any.
 */
export function pinnedRange(language: RuntimeLanguage, pin: string): string | null {
  const lts = /^lts\/(.+)$/i.exec(pin)?.[1];
  if (lts !== undefined) return LTS[lts.toLowerCase()] ?? null;
  if (language === 'rust') return /^[\w.-]+$/.test(pin) ? pin : null;
  const version = /^(?:[a-z]+-)?v?(\d+(?:\.\d+){0,2})/i.exec(pin)?.[1];
  if (version === undefined) return null;
  if (language === 'node') return version.includes('.') ? `^${version}` : version;
  return version
    .split('.')
    .slice(0, language === 'java' ? 1 : 2)
    .join('.');
}

/** Oldest versions that are still available and that Runoff's tools next to the tests support. Major and minor. */
const OLDEST: Partial<Record<RuntimeLanguage, readonly [number, number]>> = { node: [18, 0], python: [3, 8] };

/** Any version that CI tests with, except prereleases. */
export function testedVersions(language: RuntimeLanguage, job: CiJob | null): WantedVersion | null {
  const [major, minor] = OLDEST[language] ?? [0, 0];
  const ranges = (job?.versions.get(language) ?? []).flatMap((version) => {
    if (/pypy|graalpy|nightly|dev|alpha|beta|rc/i.test(version)) return [];
    const range = pinnedRange(language, version.replace(/\.x$/, ''));
    const found = range === null ? null : parseVersion(range);
    if (range === null || found === null) return [];
    return found[0] > major || (found[0] === major && (found[1] >= minor || !range.includes('.')))
      ? [range]
      : [];
  });
  return job === null || ranges.length === 0
    ? null
    : { range: [...new Set(ranges)].join(' || '), file: job.file };
}
