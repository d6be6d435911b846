import { type CiJob, ciJob, workflowFiles } from './ci-workflow.ts';
import { goFileWithoutModules } from './compiled-ecosystems.ts';
import { projectFolders, projectIn } from './detected-checks.ts';
import { broughtBySetup } from './python-setup.ts';
import { SAMPLE_FOLDERS } from './repository-recipe.ts';
import type { ServiceName } from './service-scripts.ts';
import { wantedServices } from './services.ts';
import { TRAVIS_FILE, travisVersions } from './travis.ts';
import {
  isVersionRange,
  LANGUAGES,
  type RuntimeLanguage,
  satisfies,
  type Version,
  type WantedVersion,
} from './versions.ts';
import { manifestOf, type NodeManifest, type Texts, versionOf } from './wanted-versions.ts';

const NODE_MANAGERS = ['npm', 'pnpm', 'yarn', 'bun'] as const;
export type NodeManager = (typeof NODE_MANAGERS)[number];

export interface WantedManager extends WantedVersion {
  readonly name: NodeManager;
  /** A yarn that is part of the repository, by its path. */
  readonly release?: string;
}

/** The toolchains that a repository requires according to its own files. */
export interface WantedTools {
  /** The versions required of each language, with the file that defines them. */
  readonly languages: ReadonlyMap<RuntimeLanguage, string>;
  readonly versions: ReadonlyMap<RuntimeLanguage, WantedVersion>;
  /** Programs besides those of the languages, such as `mvn`, with the file that requires them. */
  readonly programs: ReadonlyMap<string, string>;
  /** Those of the programs that set-up installs from the package index if they are missing. */
  readonly broughtBySetup: readonly string[];
  /** Services that the CI job of the tests starts, and that can run inside the sandbox. */
  readonly services: readonly ServiceName[];
  /** Package manager of the Node packages; null for Node's bundled npm. */
  readonly manager: WantedManager | null;
}

/** A program that a repository requires and that is available to its commands. */
export interface FoundTool {
  /** With its reported version, if known: `Node 22.14.0`, `Python 3.11.7`, `uv 0.5.1`. */
  readonly name: string;
  /** Its source: the sandbox, this machine, the package registry, the repository, or Runoff. */
  readonly from: 'sandbox' | 'machine' | 'registry' | 'repository' | 'runoff';
}

/** Paths of the files whose text defines required versions; bounded. */
export const toolchainFiles = (paths: readonly string[]): readonly string[] => {
  const present = new Set(paths);
  const places = ['', ...projectFolders({ files: present, read: {} }).map((folder) => `${folder}/`)];
  const near = places.flatMap((place) => TOP_FILES.map((name) => `${place}${name}`));
  return [...near.filter((path) => present.has(path)), ...workflowFiles(paths)];
};

const TOP_FILES = [
  ...[
    'package.json',
    '.nvmrc',
    '.node-version',
    '.tool-versions',
    'mise.toml',
    '.mise.toml',
    '.python-version',
  ],
  ...['pyproject.toml', 'rust-toolchain', 'rust-toolchain.toml', 'go.mod', '.ruby-version', '.java-version'],
  ...['Pipfile', 'setup.cfg', 'setup.py', 'Gemfile', 'composer.json', 'global.json', 'Dockerfile'],
  ...['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'yarn.lock', '.yarnrc.yml', TRAVIS_FILE],
];

const TOOL_FILES: readonly {
  readonly sign: RegExp;
  readonly language?: RuntimeLanguage;
  readonly program?: string;
}[] = [
  { sign: /^package\.json$/, language: 'node' },
  { sign: /(?:^|\/)Cargo\.toml$/, language: 'rust' },
  { sign: /(?:^|\/)go\.mod$/, language: 'go' },
  {
    sign: /^(?:pyproject\.toml|setup\.(?:py|cfg)|requirements[\w.-]*\.txt|tox\.ini|noxfile\.py|Pipfile)$/,
    language: 'python',
  },
  { sign: /(?:^|\/)pom\.xml$/, language: 'java', program: 'mvn' },
  { sign: /^(?:build|settings)\.gradle(?:\.kts)?$/, language: 'java', program: 'gradle' },
  { sign: /^(?:Gemfile|Rakefile|[^/]+\.gemspec)$/, language: 'ruby' },
  { sign: /^composer\.json$/, language: 'php', program: 'composer' },
  { sign: /^[^/]+\.(?:sln|slnx|csproj|fsproj)$|^global\.json$/, language: 'dotnet' },
  { sign: /^uv\.lock$/, program: 'uv' },
  { sign: /^poetry\.lock$/, program: 'poetry' },
  { sign: /^pdm\.lock$/, program: 'pdm' },
  { sign: /^Pipfile\.lock$/, program: 'pipenv' },
  { sign: /^deno\.jsonc?$/, program: 'deno' },
];

/** By the last part of a path, what any of the signs may match: a large tree is compared with the signs once. */
const MANIFEST = RegExp(TOOL_FILES.map(({ sign }) => sign.source).join('|'));
const isManifest = (path: string): boolean => MANIFEST.test(path.slice(path.lastIndexOf('/') + 1));

const DOTNET_PROJECT = /\.(?:cs|fs|vb)proj$/;

/**
 * Languages of a repository's manifests: set-up may start the package client of each, whatever program it names itself,
 * as Maven starts npm. `commands`: what is run, which may enter folders.
 */
export function languagesOf(
  paths: readonly string[],
  commands: readonly string[],
): readonly RuntimeLanguage[] {
  const near = paths.filter((path) => isManifest(path) && isNearTop(path));
  const below = new Set(near.map((path) => path.slice(path.lastIndexOf('/') + 1)));
  return [...neededTools([...paths, ...below], foldersEntered(commands)).languages.keys()];
}

function neededTools(paths: readonly string[], entered: readonly string[]) {
  const languages = new Map<RuntimeLanguage, string>();
  const programs = new Map<string, string>();
  const manifests = paths.filter(isManifest);
  const folders = new Set(entered);
  for (const { sign, language, program } of TOOL_FILES) {
    const file =
      manifests.find((path) => !path.includes('/') && sign.test(path)) ??
      manifests.find((path) => isManifestBelow(path, sign, folders));
    if (file === undefined) continue;
    if (language !== undefined && !languages.has(language)) languages.set(language, file);
    // A wrapper in the repository downloads its own version.
    if (program !== undefined && !paths.includes(`${program}w`)) programs.set(program, file);
  }
  return { languages, programs };
}

/**
 * The toolchains required by a commit's files. `paths` are all its files, `texts` the readable ones of
 * `toolchainFiles`; `setup` is the set-up command.
 */
export function wantedTools(
  paths: readonly string[],
  texts: ReadonlyMap<string, string>,
  setup = '',
): WantedTools {
  const job = ciJob(Object.fromEntries(texts));
  const entered = foldersEntered([setup, ...(job?.commands ?? []).map(({ command }) => command)]);
  const { languages, programs } = neededTools(paths, entered);
  for (const language of LANGUAGES)
    if (job !== null && job.commands.length > 0 && job.versions.has(language) && !languages.has(language))
      languages.set(language, job.file);
  // Below the top they may be the bindings of a library in C, unless they are set up.
  if (/\bmeson setup\b/.test(setup)) programs.set('meson', 'meson.build');
  const project = setup.includes('dotnet restore')
    ? paths.find((path) => DOTNET_PROJECT.test(path))
    : undefined;
  if (project !== undefined && !languages.has('dotnet')) languages.set('dotnet', project);
  const old = goFileWithoutModules(paths);
  if (old !== null) languages.set('go', old);
  const manifest = manifestOf(texts.get('package.json'));
  const travis = travisVersions(Object.fromEntries(texts));
  const versions = new Map(
    LANGUAGES.flatMap((language) => {
      if (!languages.has(language)) return [];
      const version =
        versionOf(language, texts, { manifest, job, travis }) ?? versionBelow(language, texts, entered);
      return version === null ? [] : [[language, version] as const];
    }),
  );
  return {
    languages,
    versions,
    programs,
    services: wantedServices(job),
    broughtBySetup: [...broughtBySetup(setup)],
    manager: languages.has('node') ? managerOf(paths, texts, { manifest, job, entered }) : null,
  };
}

/** The version that the first folder of those that commands enter requires. */
function versionBelow(
  language: RuntimeLanguage,
  texts: Texts,
  entered: readonly string[],
): WantedVersion | null {
  const repository = { files: new Set<string>(), read: Object.fromEntries(texts) };
  for (const folder of entered) {
    const own = new Map(Object.entries(projectIn(folder, repository).read));
    const manifest = manifestOf(own.get('package.json'));
    const version = versionOf(language, own, { manifest, job: null, travis: travisVersions({}) });
    if (version !== null) return { ...version, file: `${folder}/${version.file}` };
  }
  return null;
}

/** Folders that commands enter, such as `(cd frontend && npm ci)`. */
const foldersEntered = (commands: readonly string[]): readonly string[] => [
  ...new Set(commands.flatMap((one) => [...one.matchAll(/\(cd ([\w@./-]+) && /g)].map(([, to = '']) => to))),
];

/** Folders whose manifests are not for what a repository builds and tests. */
const DATA_FOLDERS = /(?:^|\/)(?:testdata|(?:[\w.]+[-_])?tests?|_[^/]*)\//i;
/** Folders down to a manifest that belongs to the repository: `crates/core/Cargo.toml`. */
const MAX_MANIFEST_DEPTH = 2;
/** Folders down to one that commands enter; real ones have three. */
const MAX_ENTERED_DEPTH = 8;

/** In a folder that commands enter, every manifest counts as if at the top. */
function isManifestBelow(path: string, sign: RegExp, entered: ReadonlySet<string>): boolean {
  const parts = entered.size === 0 ? [] : path.split('/', MAX_ENTERED_DEPTH + 1);
  const above = parts.map((_, depth) => parts.slice(0, depth).join('/'));
  const inside = above.some((one) => entered.has(one) && sign.test(path.slice(one.length + 1)));
  if (inside) return true;
  return sign.test(path) && isNearTop(path);
}

const isNearTop = (path: string): boolean =>
  path.split('/').length <= MAX_MANIFEST_DEPTH + 1 && !SAMPLE_FOLDERS.test(path) && !DATA_FOLDERS.test(path);

interface NodeHints {
  readonly manifest: NodeManifest;
  readonly job: CiJob | null;
  /** Folders that commands enter. */
  readonly entered: readonly string[];
}

function managerOf(paths: readonly string[], texts: Texts, hints: NodeHints): WantedManager | null {
  const found =
    namedManager(hints.manifest) ?? lockedManager(paths, texts) ?? managerBelow(paths, hints.entered);
  if (found === null || found.name === 'npm') return found;
  const manager = found.file === 'package.json' ? found : narrowed(found, hints);
  const release = /^\s*yarnPath:\s*["']?(\.yarn\/releases\/[\w.-]+\.[cm]?js)/m.exec(
    texts.get('.yarnrc.yml') ?? '',
  )?.[1];
  return release !== undefined && manager.name === 'yarn' && paths.includes(release)
    ? { ...manager, release }
    : manager;
}

/** Files that say which package manager a folder is for. */
const NODE_LOCKS: readonly string[] = [
  ...['package-lock.json', 'npm-shrinkwrap.json', 'pnpm-lock.yaml', 'yarn.lock', '.yarnrc.yml'],
  ...['bun.lock', 'bun.lockb'],
];

/** Of a lock file in a folder that commands enter; beside one at the top, npm needs no other. */
function managerBelow(paths: readonly string[], entered: readonly string[]): WantedManager | null {
  const present = new Set(paths);
  if (NODE_LOCKS.some((name) => present.has(name))) return null;
  for (const folder of entered) {
    const inside = NODE_LOCKS.filter((name) => present.has(`${folder}/${name}`));
    const found = lockedManager(inside, new Map());
    if (found !== null) return { ...found, file: `${folder}/${found.file}` };
  }
  return null;
}

/** The package manager of a lock file, in the version of CI, or in those that the manifest allows. */
function narrowed(found: WantedManager, { manifest, job }: NodeHints): WantedManager {
  const [tested] = job?.versions.get(found.name) ?? [];
  if (job !== null && tested !== undefined && isVersionRange(tested) && /^\d/.test(tested))
    return { ...found, range: tested, file: job.file };
  const asked = manifest.volta?.[found.name] ?? manifest.engines?.[found.name];
  if (asked === undefined) return found;
  const isNewer = found.range === PNPM_LOCKS['9'] && !PNPM_RELEASES.some((one) => satisfies(one, asked));
  const own = isNewer ? ANY_PNPM : found.range;
  // Beside alternatives, npm would take the range of the lock file for a part of the last one.
  const range = asked.includes('||') ? asked : `${asked} ${own}`.trim();
  return { ...found, range, file: 'package.json' };
}

function namedManager({ packageManager = '' }: NodeManifest): WantedManager | null {
  const [, name, range] = /^(npm|pnpm|yarn|bun)@(\d+\.\d+\.\d+(?:-[\w.]+)?)/.exec(packageManager) ?? [];
  if (name === undefined || range === undefined) return null;
  return { name: name as NodeManager, range, file: 'package.json' };
}

/**
 * Versions that write a form of lock file. pnpm 11 writes the one of pnpm 9 and 10, but reads no settings in package.json,
 * and fails where packages have scripts that nobody allowed; `allowBuilds` of pnpm-workspace.yaml is its own setting.
 */
const PNPM_LOCKS: Readonly<Record<string, string>> = { '9': '>=9 <11', '6': '8', '5': '7' };
const ANY_PNPM = '>=9 <12';
/** The last ones of pnpm 9 and 10. */
const PNPM_RELEASES: readonly Version[] = [9, 10].map((major) => [major, 999, 999]);
const YARN_LOCKS: Readonly<Record<string, string>> = { '8': '4', '6': '3', '5': '3', '4': '2' };

function lockedManager(paths: readonly string[], texts: Texts): WantedManager | null {
  const has = (file: string): boolean => paths.includes(file);
  if (has('package-lock.json') || has('npm-shrinkwrap.json')) return null;
  if (has('pnpm-lock.yaml')) {
    const form = /^lockfileVersion:\s*['"]?(\d+)/m.exec(texts.get('pnpm-lock.yaml') ?? '')?.[1] ?? '9';
    const isNewer = form === '9' && /^allowBuilds:/m.test(texts.get('pnpm-workspace.yaml') ?? '');
    return { name: 'pnpm', range: isNewer ? ANY_PNPM : (PNPM_LOCKS[form] ?? ''), file: 'pnpm-lock.yaml' };
  }
  if (has('yarn.lock')) {
    const form = /^__metadata:\s*\n\s+version:\s*(\d+)/m.exec(texts.get('yarn.lock') ?? '')?.[1];
    const berry = form ?? (has('.yarnrc.yml') ? '8' : undefined);
    return { name: 'yarn', range: berry === undefined ? '1' : (YARN_LOCKS[berry] ?? '4'), file: 'yarn.lock' };
  }
  const bun = ['bun.lock', 'bun.lockb'].find(has);
  return bun === undefined ? null : { name: 'bun', range: '', file: bun };
}
