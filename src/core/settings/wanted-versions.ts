import { z } from 'zod';
import type { CiJob } from './ci-workflow.ts';
import type { travisVersions } from './travis.ts';
import {
  nearestVersions,
  pinnedRange,
  type RuntimeLanguage,
  testedVersions,
  type WantedVersion,
} from './versions.ts';

const VersionText = z.string().max(200).optional().catch(undefined);
/** None with a character that addresses, paths, aliases and names of packages need, and ranges do not. */
const RangeText = z
  .string()
  .max(200)
  .regex(/^[\w .,^~<>=|&*+!()-]*$/)
  .optional()
  .catch(undefined);
const Versions = z
  .object({ node: RangeText, npm: RangeText, pnpm: RangeText, yarn: RangeText, bun: RangeText })
  .catch({ node: undefined, npm: undefined, pnpm: undefined, yarn: undefined, bun: undefined });
const NodeManifest = z.object({
  packageManager: VersionText,
  engines: Versions.optional(),
  volta: Versions.optional(),
});
export type NodeManifest = z.infer<typeof NodeManifest>;

export function manifestOf(text: string | undefined): NodeManifest {
  try {
    return NodeManifest.safeParse(JSON.parse(text ?? '')).data ?? {};
  } catch {
    // Not JSON: requires nothing.
    return {};
  }
}

export type Texts = ReadonlyMap<string, string>;

interface Hints {
  readonly manifest: NodeManifest;
  /** The CI job that runs the tests. */
  readonly job: CiJob | null;
  /** In .travis.yml. */
  readonly travis: ReturnType<typeof travisVersions>;
}

/** A pinned version first; the version used by CI is more reliable than the lowest supported one. */
export function versionOf(
  language: RuntimeLanguage,
  texts: Texts,
  { manifest, job, travis }: Hints,
): WantedVersion | null {
  const asked = ownFile(language, texts) ?? ofVersionManager(language, texts);
  const tested = testedVersions(language, job);
  const nearest = (supported: WantedVersion | null): WantedVersion | null =>
    // A workflow is newer than .travis.yml.
    nearestVersions(language, job?.versions.has(language) ? job : travis, supported) ?? supported;
  switch (language) {
    case 'node': {
      const engines = fromManifest('engines', manifest);
      return (
        asked ?? fromManifest('volta', manifest) ?? tested ?? nearest(engines) ?? inDockerfile('node', texts)
      );
    }
    case 'python': {
      // pipenv ends where this one is not there.
      const pinned = versionInFile(
        texts,
        'Pipfile',
        /^python_(?:full_)?version\s*=\s*["'](\d[\d.]{0,20})["']/m,
      );
      const own = asked ?? (pinned && { ...pinned, range: pinnedRange(language, pinned.range) ?? '' });
      return own ?? tested ?? nearest(supportedPython(texts)) ?? inDockerfile('python', texts);
    }
    case 'ruby': {
      const required = inGemfile(texts);
      // Bundler accepts no other.
      return asked ?? (required && /^\d/.test(required.range) ? required : (tested ?? required));
    }
    case 'php':
      return asked ?? tested ?? inComposer(texts);
    case 'dotnet':
      return asked ?? inGlobalJson(texts) ?? tested;
    case 'rust':
      return (
        versionInFile(texts, 'rust-toolchain.toml', /^\s*channel\s*=\s*["']([\w.-]{1,60})["']/m) ??
        versionInFile(texts, 'rust-toolchain', /^\s*(?:channel\s*=\s*["'])?([\w.-]{1,60})/m) ??
        asked
      );
    case 'go': {
      const line = versionInFile(texts, 'go.mod', /^go\s+([\d.]{1,20})/m);
      return line === null ? asked : { ...line, range: `>=${line.range}` };
    }
    default:
      return asked ?? tested;
  }
}

const REQUIRES_PYTHON: readonly (readonly [file: string, pattern: RegExp])[] = [
  ['pyproject.toml', /^\s*requires-python\s*=\s*["']([^"'\n]{1,100})["']/m],
  [
    'pyproject.toml',
    /^\[tool\.poetry\.dependencies\][^\S\n]*\n(?:(?!\[).*\n)*?python\s*=\s*["']([^"'\n]{1,100})["']/m,
  ],
  ['setup.cfg', /^\s*python_requires\s*=\s*([^\n#]{1,100})/m],
  ['setup.py', /\bpython_requires\s*=\s*["']([^"'\n]{1,100})["']/],
];

/** The versions that the project can be installed with. */
function supportedPython(texts: Texts): WantedVersion | null {
  for (const [file, pattern] of REQUIRES_PYTHON) {
    const found = versionInFile(texts, file, pattern);
    if (found !== null) return found;
  }
  return null;
}

function inGemfile(texts: Texts): WantedVersion | null {
  const line = versionInFile(texts, 'Gemfile', /^ruby[ (]+((?:["'][^"'\n]{1,40}["'][, ]*)+)/m);
  return line && { ...line, range: line.range.replace(/["']/g, '').replace(/[, ]+$/, '') };
}

/** Composer chooses packages for the version of `platform`, whatever version is there. */
function inComposer(texts: Texts): WantedVersion | null {
  const platform = /"platform"\s*:\s*\{[^{}]*?"php"\s*:\s*"(\d{1,3}\.\d{1,3})[\d.]*"/;
  const chosen = versionInFile(texts, 'composer.json', platform);
  if (chosen) return { ...chosen, range: `^${chosen.range}` };
  const require = /"require"\s*:\s*\{[^{}]*?"php"\s*:\s*"([^"\n]{1,100})"/;
  const line = versionInFile(texts, 'composer.json', require);
  return line && { ...line, range: line.range.replace(/\s*\|+\s*/g, ' || ') };
}

/** What an application is built on: often the only version that a repository names. */
function inDockerfile(language: 'node' | 'python', texts: Texts): WantedVersion | null {
  const image = RegExp(
    `^FROM\\s+(?:--platform=\\S+\\s+)?(?:[\\w.-]+/){0,3}${language}:(\\d[\\d.]{0,20})(?=[-@\\s]|$)`,
    'mi',
  );
  const found = versionInFile(texts, 'Dockerfile', image);
  const range = found && pinnedRange(language, found.range);
  return found && range !== null ? { ...found, range } : null;
}

/** Which SDKs `dotnet` starts with, of those on the machine: patches of one hundred, unless more is allowed. */
function inGlobalJson(texts: Texts): WantedVersion | null {
  const sdk = /"sdk"\s*:\s*\{([^{}]*)\}/.exec(texts.get('global.json') ?? '')?.[1] ?? '';
  const version = /"version"\s*:\s*"(\d+\.\d+\.\d+)/.exec(sdk)?.[1];
  if (version === undefined) return null;
  const [, forward = 'patch'] = /"rollForward"\s*:\s*"(?:latest)?(\w+)"/i.exec(sdk) ?? [];
  const [major, minor, patch = 0] = version.split('.').map(Number);
  const range = {
    disable: version,
    feature: `~${version}`,
    minor: `^${version}`,
    major: `>=${version}`,
  }[forward.toLowerCase()];
  const band = `>=${version} <${major}.${minor}.${(Math.floor(patch / 100) + 1) * 100}`;
  return { range: range ?? band, file: 'global.json' };
}

const OWN_FILES: Partial<Record<RuntimeLanguage, readonly string[]>> = {
  node: ['.nvmrc', '.node-version'],
  python: ['.python-version'],
  ruby: ['.ruby-version'],
  java: ['.java-version'],
};

function ownFile(language: RuntimeLanguage, texts: Texts): WantedVersion | null {
  for (const file of OWN_FILES[language] ?? []) {
    const line = versionInFile(texts, file, /^[ \t]*(?!#)(\S[^\s#]{0,60})/m);
    const range = line === null ? null : pinnedRange(language, line.range);
    if (range !== null) return { range, file };
  }
  return null;
}

/** Names of languages in asdf and mise. */
const PLUGINS: Readonly<Record<RuntimeLanguage, string>> = {
  node: 'node(?:js)?',
  python: 'python',
  rust: 'rust',
  go: 'go(?:lang)?',
  java: 'java',
  ruby: 'ruby',
  php: 'php',
  dotnet: 'dotnet(?:-core)?',
};

function ofVersionManager(language: RuntimeLanguage, texts: Texts): WantedVersion | null {
  const name = PLUGINS[language];
  const found =
    versionInFile(texts, '.tool-versions', RegExp(`^\\s*${name}\\s+([^\\s#]{1,60})`, 'm')) ??
    inMise(texts, 'mise.toml', name) ??
    inMise(texts, '.mise.toml', name);
  const range = found === null ? null : pinnedRange(language, found.range);
  return found === null || range === null ? null : { range, file: found.file };
}

function inMise(texts: Texts, file: string, name: string): WantedVersion | null {
  const tools = (texts.get(file) ?? '')
    .split(/^\s*\[(?=[\w.]+\])/m)
    .find((section) => section.startsWith('tools]'));
  const value = RegExp(
    `^\\s*["']?${name}["']?\\s*=\\s*(?:\\[\\s*|\\{\\s*version\\s*=\\s*)?["']([^"'\\n]{1,60})["']`,
    'm',
  );
  return versionInFile(new Map([[file, tools ?? '']]), file, value);
}

function versionInFile(texts: Texts, file: string, pattern: RegExp): WantedVersion | null {
  const range = pattern.exec(texts.get(file) ?? '')?.[1];
  return range === undefined ? null : { range: range.trim(), file };
}

const fromManifest = (from: 'volta' | 'engines', manifest: NodeManifest): WantedVersion | null => {
  const node = manifest[from]?.node;
  if (node === undefined || !/\d/.test(node)) return null;
  return { range: from === 'volta' ? `^${node}` : node, file: 'package.json' };
};
