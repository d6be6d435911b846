import type { CiJob } from './ci-workflow.ts';

export const LANGUAGES = ['node', 'python', 'rust', 'go', 'java', 'ruby', 'php', 'dotnet'] as const;
export type RuntimeLanguage = (typeof LANGUAGES)[number];

/** A range of versions, and the file that requires it. */
export interface WantedVersion {
  /** As in the file, or what it means: `^20.9 || >=22`, `20`, `1.75`; `stable` and `nightly` for Rust. */
  readonly range: string;
  readonly file: string;
  /** The file names only versions that are no longer available; those of the range are nearest to them. */
  readonly isNearest?: true;
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

type CiVersions = Pick<CiJob, 'file' | 'versions'>;

/** Any version that CI tests with, except prereleases. */
export function testedVersions(language: RuntimeLanguage, ci: CiVersions | null): WantedVersion | null {
  const ranges = listedRanges(language, ci).filter((range) => !isTooOld(language, range));
  return ci === null || ranges.length === 0
    ? null
    : { range: [...new Set(ranges)].join(' || '), file: ci.file };
}

/** The available releases that come soon after the oldest ones: what old code most likely runs with. */
const NEAREST: Partial<Record<RuntimeLanguage, readonly string[]>> = {
  node: ['18', '20'],
  python: ['3.8', '3.9', '3.10', '3.11'],
};
/** A name for the newest version of the day. */
const OPEN = /^(?:node|stable|latest|current|lts.*|\*)$/i;

/**
 * What comes nearest to the versions that CI tests with, if all of these are too old to be available; else null. Of
 * releases that the project supports only in part, none is wanted.
 */
export function nearestVersions(
  language: RuntimeLanguage,
  ci: CiVersions | null,
  supported: WantedVersion | null,
): WantedVersion | null {
  const ranges = listedRanges(language, ci);
  if (ci === null || ranges.length === 0 || !ranges.every((one) => isTooOld(language, one))) return null;
  if (ci.versions.get(language)?.some((version) => OPEN.test(version))) return null;
  const releases = (NEAREST[language] ?? []).filter(
    (release) => supported === null || isSupported(release, supported.range),
  );
  return releases.length === 0 ? null : { range: releases.join(' || '), file: ci.file, isNearest: true };
}

/** Whether the first and the last version of a release (`18`, `3.9`) are in a range. */
function isSupported(release: string, range: string): boolean {
  const first = parseVersion(release) ?? ZERO;
  const last: Version = release.includes('.') ? [first[0], first[1], LAST] : [first[0], LAST, LAST];
  return satisfies(first, range) && satisfies(last, range);
}

const listedRanges = (language: RuntimeLanguage, ci: CiVersions | null): readonly string[] =>
  (ci?.versions.get(language) ?? []).flatMap((version) => {
    if (/pypy|graalpy|nightly|dev|alpha|beta|rc/i.test(version)) return [];
    const range = pinnedRange(language, version.replace(/\.x$/, ''));
    return range === null || parseVersion(range) === null ? [] : [range];
  });

function isTooOld(language: RuntimeLanguage, range: string): boolean {
  const [major, minor] = OLDEST[language] ?? [0, 0];
  const found = parseVersion(range) ?? [0, 0, 0];
  return found[0] < major || (found[0] === major && found[1] < minor && range.includes('.'));
}

/** Major, minor, patch. Pre-release and build are ignored. */
export type Version = readonly [major: number, minor: number, patch: number];

/** The first version in a text, such as the output of `--version`; null if there is none. */
export function parseVersion(text: string): Version | null {
  const [, major, minor, patch] = /(?<![\d.])(\d{1,6})(?:\.(\d{1,6}))?(?:\.(\d{1,6}))?/.exec(text) ?? [];
  return major === undefined ? null : [Number(major), Number(minor ?? 0), Number(patch ?? 0)];
}

/** Maximum characters of a range that are read. Default: real ones have fewer than a hundred. */
const MAX_CHARACTERS = 500;

/** `v18`, `20.x`, `1.2.3-rc.1`. After a hyphen also the name that a package gives one of its versions: `22-alpine`. */
const ONE_VERSION =
  'v?(?:\\d{1,16}|[xX*])(?:\\.(?:\\d{1,16}|[xX*])){0,2}(?:[-+][\\w-]{1,60}(?:[.+][\\w-]{1,60}){0,8})?';
const COMPARATOR = new RegExp(`^(?:\\^|~>?|[<>]=?|=)?${ONE_VERSION}$`);
const HYPHENATED = new RegExp(`^${ONE_VERSION}\\s+-\\s+${ONE_VERSION}$`);
/** With such an end, npm takes even a version for a file. */
const FILE_NAME = /\.(?:tgz|tar)/i;

/**
 * Whether a text is a range of versions in npm's syntax, and nothing else that npm would install: no address, path,
 * file or other package. The empty text is a range, too: any version.
 */
export function isVersionRange(text: string): boolean {
  if (text.length > MAX_CHARACTERS || FILE_NAME.test(text)) return false;
  return text.split('||').every((part) => {
    const alternative = part.trim();
    if (HYPHENATED.test(alternative)) return true;
    const comparators = alternative.replace(/([\^~<>=]) +/g, '$1').split(/ +/);
    return alternative === '' || comparators.every((one) => COMPARATOR.test(one));
  });
}

/** From a version, inclusive, up to another, exclusive. */
interface Span {
  readonly from: Version;
  readonly to: Version;
}

const ZERO: Version = [0, 0, 0];
/** More than any minor version or patch. */
const LAST = 999_999;
const END: Version = [Number.POSITIVE_INFINITY, 0, 0];

/**
 * Whether a version is in a range in the syntax of npm, Python or a version manager: `^20.9 || >=22`, `>=3.8,<4`,
 * `~=3.8`, `18.x`, `20`. An unreadable range contains every version, so that it does not block a repository.
 */
export function satisfies(version: Version, range: string): boolean {
  const alternatives = range
    .slice(0, MAX_CHARACTERS)
    .split('||')
    .map((part) => spansOf(part.trim()));
  return alternatives.some((spans) =>
    spans.every(({ from, to }) => !isLess(version, from) && isLess(version, to)),
  );
}

const isLess = (a: Version, b: Version): boolean =>
  a[0] !== b[0] ? a[0] < b[0] : a[1] !== b[1] ? a[1] < b[1] : a[2] < b[2];

function spansOf(text: string): readonly Span[] {
  const [, low, high] = /^v?([\d.]+)\s+-\s+v?([\d.]+)$/.exec(text) ?? [];
  if (low !== undefined && high !== undefined) return [...comparator('>=', low), ...comparator('<=', high)];
  const found = text.matchAll(/(\^|~>|~=|~|>=|<=|===?|!=|>|<|=)?\s*v?(\d+(?:\.(?:\d+|[xX*]))*)[-+.\w]*/g);
  return [...found].flatMap(([, operator = '', version = '']) => comparator(operator, version));
}

function comparator(operator: string, text: string): readonly Span[] {
  const parts = text.split('.').filter((part) => /^\d+$/.test(part));
  const from = parseVersion(parts.join('.')) ?? ZERO;
  // The first version greater than all that begin with these numbers.
  const beyond = next(from, Math.min(parts.length, 3) - 1);
  switch (operator) {
    case '>=':
      return [{ from, to: END }];
    case '>':
      return [{ from: beyond, to: END }];
    case '<':
      return [{ from: ZERO, to: from }];
    case '<=':
      return [{ from: ZERO, to: beyond }];
    case '^':
      return [
        {
          from,
          to: next(
            from,
            Math.max(
              0,
              from.findIndex((part) => part > 0),
            ),
          ),
        },
      ];
    case '~':
    case '~>':
      return [{ from, to: next(from, parts.length === 1 ? 0 : 1) }];
    case '~=':
      return [{ from, to: next(from, Math.max(0, parts.length - 2)) }];
    case '!=':
      return [];
    default:
      return [{ from, to: beyond }];
  }
}

/** The version after all that share the parts up to a place. */
function next([major, minor, patch]: Version, place: number): Version {
  if (place === 0) return [major + 1, 0, 0];
  return place === 1 ? [major, minor + 1, 0] : [major, minor, patch + 1];
}
