import { createHash } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { type BaseCheckout, DEFAULT_LIMITS, type Sandbox, type WorkArea } from '../../ports/index.ts';
import type { SetupResult } from './collect.ts';
import { isWhole, setAsideDamaged, writeMark } from './damage.ts';
import { abortError } from './faults.ts';
import { keyOf, type Layout, makeAtomically, readTextFile, replaceFile } from './layout.ts';
import type { Locks } from './locks.ts';
import type { Mirrors } from './mirrors.ts';
import { fits, type InstallInputs, installInputs } from './setup-inputs.ts';
import {
  type FileOwner,
  fingerprintTree,
  globLiteral,
  openFolders,
  removeTree,
  removeWithin,
  TreeTooLarge,
} from './trees.ts';

/** Where the layer of a setup on a commit is stored: ids of layers of that repository. */
export interface Place {
  /** For this commit only. */
  readonly own: string;
  /** For every commit with the same inputs; null if the command may read more than we can list. */
  readonly shared: string | null;
  /** Files of the commit. */
  readonly tracked: readonly string[];
  /** The command runs scripts of the packages that it installs. */
  readonly scripts: boolean;
}

/** Finds layers of earlier setups. All paths are folders of layers, and each is marked as used. */
interface SetupCache {
  find(base: BaseCheckout, command: string): Promise<string | null>;
  /** `area` is a new one on top of the base, used to ask the tools for their versions; nothing is written to it. */
  placeFor(base: BaseCheckout, command: string, area: WorkArea, signal?: AbortSignal): Promise<Place>;
  /** The shared layer, if it exists and covers no file of this commit. */
  adopt(base: BaseCheckout, command: string, place: Place): Promise<string | null>;
  /** Remembers which shared layer a commit uses, so that it can be found without asking for versions. */
  point(base: BaseCheckout, command: string, id: string): Promise<void>;
}

const ASK_MS = 60_000;

/** Packages may be built for the very programs that installed them, and from files of submodules. */
const toolsOf = ({ submodules, tools, toolVersions = [] }: BaseCheckout): string =>
  `${[...(tools?.path ?? []), ...toolVersions, ...(submodules ? [submodules.id] : [])].join(':')}\0`;

/** Part of every key: layers of an older form, which lack the HOME of set-up, are not found and pruned with time. */
const FORM = 'files and home';

const Roots = z.array(z.string());

export function openSetupCache(parts: {
  readonly layout: Layout;
  readonly mirrors: Mirrors;
  readonly sandbox: Sandbox;
  readonly locks: Locks;
  readonly onDamage: (path: string, why: string) => void;
}): SetupCache {
  const { layout, mirrors, sandbox } = parts;
  /** Sets a damaged layer aside, so that another can be created. */
  const wholeLayer = async (key: string, layer: string): Promise<boolean> => {
    const fingerprint = () => fingerprintLayer(layer);
    if (await isWhole(layer, fingerprint)) return true;
    await setAsideDamaged(parts, key, layer, fingerprint);
    return false;
  };
  const pointerOf = (base: BaseCheckout, command: string): string =>
    join(layout.base(base.repositoryKey, base.sha), 'setups', keyOf(`${FORM}\0${toolsOf(base)}${command}`));
  const ownId = (base: BaseCheckout, command: string): string =>
    keyOf(`${FORM}\0commit\0${base.sha}\0${toolsOf(base)}${command}`);

  /** Versions of the system and of tools in the sandbox; null if one of them is missing. */
  async function toolchain(
    area: WorkArea,
    inputs: InstallInputs,
    signal: AbortSignal | undefined,
  ): Promise<string | null> {
    const script = `set -e; uname -sm; getconf GNU_LIBC_VERSION || true; node --version; ${inputs.tool} --version`;
    const result = await sandbox.exec({
      area,
      argv: ['sh', '-c', script],
      readOnly: true,
      limits: { ...DEFAULT_LIMITS, wallMs: ASK_MS },
      ...(signal ? { signal } : {}),
    });
    if (result.stopped === 'cancelled') throw abortError();
    return result.exitCode === 0 && result.stopped === null ? result.stdout : null;
  }

  async function point(base: BaseCheckout, command: string, id: string): Promise<void> {
    const pointer = pointerOf(base, command);
    await mkdir(dirname(pointer), { recursive: true });
    await replaceFile(pointer, id, layout.base(base.repositoryKey, base.sha));
  }

  return {
    point,

    async find(base, command) {
      const pointer = await readTextFile(pointerOf(base, command));
      for (const id of [ownId(base, command), ...(pointer === null ? [] : [pointer])]) {
        const layer = layout.layer(base.repositoryKey, id);
        if (await wholeLayer(base.repositoryKey, layer)) return layer;
      }
      return null;
    },

    async placeFor(base, command, area, signal) {
      const key = base.repositoryKey;
      const entries = await mirrors.entries(key, base.sha);
      const inputs = await installInputs(command, entries, async (entry, most) => {
        const text = await mirrors.blob(key, entry, most);
        return typeof text === 'string' ? text : null;
      });
      const versions = inputs ? await toolchain(area, inputs, signal) : null;
      return {
        own: ownId(base, command),
        shared:
          inputs === null || versions === null
            ? null
            : keyOf(JSON.stringify([FORM, 'inputs', `${toolsOf(base)}${command}`, versions, inputs.files])),
        tracked: inputs ? entries.map((entry) => latin(entry.path)) : [],
        scripts: !command.includes('--ignore-scripts'),
      };
    },

    async adopt(base, command, place) {
      if (place.shared === null) return null;
      const layer = layout.layer(base.repositoryKey, place.shared);
      if (!(await wholeLayer(base.repositoryKey, layer))) return null;
      const roots = await readTextFile(join(layer, 'roots.json'));
      if (roots === null || !fits(Roots.parse(JSON.parse(roots)), place.tracked)) return null;
      await point(base, command, place.shared);
      return layer;
    },
  };
}

/** The fingerprint of a layer: its files, and everything that is known about them. */
export async function fingerprintLayer(layer: string): Promise<string> {
  const known = await Promise.all(
    ['brought', 'raw', 'roots.json'].map(async (name) => (await readTextFile(join(layer, name))) ?? ''),
  );
  const hash = createHash('sha256').update(known.join('\0')).digest('hex');
  const [files, home] = [join(layer, 'files'), join(layer, 'home')];
  return `${await fingerprintTree(files)} ${await fingerprintTree(home)} ${hash}`;
}

/** Lists of paths from a sandbox are read byte by byte, so paths are compared in the same form. */
const latin = (path: string): string => Buffer.from(path).toString('latin1');

/**
 * Parts of the HOME of a set-up that are not kept, as patterns below it. Packages, caches and programs are kept, except
 * the cache of Yarn 1, which holds each package unpacked a second time and can be several times as large as what it
 * installs. Files that configure shells, git, package clients or agents, or may contain a key, are not: any package can
 * write one during its installation, and it would affect every later command.
 */
const NOT_KEPT = [
  // Keys, and settings of clients that can hold them.
  '.npmrc .netrc _netrc .git-credentials .ssh .gnupg .pypirc .docker .aws .azure .kube .yarnrc .yarnrc.yml',
  '.bunfig.toml .pip .config/pip .config/gh .config/gcloud .config/NuGet .nuget/NuGet .cargo/credentials*',
  '.gem/credentials .m2/settings*.xml .gradle/gradle.properties .gradle/init.d .gradle/init.gradle*',
  '.composer/auth.json .config/composer/auth.json .npm/_logs .runoff',
  // The cache of Yarn 1.
  '.cache/yarn',
  // Shells.
  '.profile .bash* .zsh* .zprofile .zlog* .kshrc .mkshrc .cshrc .tcshrc .inputrc .login .logout .env .envrc',
  '.config/fish .config/environment.d .pam_environment',
  // git, and what sets up its hooks.
  '.git .gitconfig .gitignore .gitattributes .githooks .git-template* .config/git .huskyrc* .config/husky',
  '.config/pre-commit .config/lefthook',
  // Agents.
  '.claude* .codex .gemini .qwen .copilot .cursor .pi .agents .config/opencode .opencode',
  '.config/github-copilot AGENTS.md CLAUDE.md GEMINI.md',
].flatMap((line) => line.split(' '));

/** Removes from the HOME of a set-up what must not reach later commands. No process may be running in it. */
export async function cleanHome(home: string, owner: FileOwner): Promise<void> {
  await openFolders(home, owner);
  const place = globLiteral(home);
  await removeWithin(
    home,
    NOT_KEPT.map((pattern) => `${place}/${pattern}`),
  );
}

/**
 * Moves what setup wrote, or what was lent, out of its area into a layer. Null, or why it is too much for one.
 */
export async function keepLayer(
  layer: string,
  area: WorkArea,
  wrote: SetupResult,
  roots: readonly string[] | null,
): Promise<TreeTooLarge | null> {
  await mkdir(join(layer, '..'), { recursive: true });
  const making = makeAtomically(
    layer,
    async (folder) => {
      await writeFile(join(folder, 'brought'), wrote.brought);
      await writeFile(join(folder, 'raw'), wrote.raw);
      if (roots) await writeFile(join(folder, 'roots.json'), JSON.stringify(roots));
      // Hooks that setup installs would run on every commit of a coder.
      await removeTree(join(area.upper, '.git'));
      await rename(area.upper, join(folder, 'files'));
      await rename(area.home, join(folder, 'home'));
      await writeMark(folder, await fingerprintLayer(folder));
    },
    removeTree,
  );
  return making.then(
    () => null,
    (thrown: unknown) => {
      if (thrown instanceof TreeTooLarge) return thrown;
      throw thrown;
    },
  );
}

/** The base with a layer of this repository. */
export const layeredBase = (base: BaseCheckout, layer: string): BaseCheckout => ({
  ...base,
  layers: [join(layer, 'files')],
  home: join(layer, 'home'),
});
