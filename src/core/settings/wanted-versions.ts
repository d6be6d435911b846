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
      return asked ?? fromManifest('volta', manifest) ?? tested ?? nearest(engines);
    }
    case 'python': {
      const requires = /^\s*requires-python\s*=\s*["']([^"'\n]{1,100})["']/m;
      const supported = versionInFile(texts, 'pyproject.toml', requires);
      return asked ?? tested ?? nearest(supported);
    }
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
