import { SETTINGS_FILE, type Sha, type Task } from '../../core/model/index.ts';
import { NPM_LOCK, npmLockPackages } from '../../core/patches/index.ts';
import type { ChecksView, CommandFiles } from '../../core/reports/index.ts';
import {
  COMMAND_NAMES,
  type CommandName,
  checkFiles,
  type DetectedChecks,
  type DetectedRecipe,
  detectChecks,
  removableInLock,
  type Settings,
} from '../../core/settings/index.ts';
import type { RepositorySource } from '../../ports/index.ts';
import { readTextAt, type World } from '../context.ts';

/** The commands to run: an empty command in the settings disables the detected one. */
export function commandsOf(
  { checks }: Settings,
  detected: DetectedChecks,
): {
  readonly test?: string;
  readonly types?: string;
  readonly build?: string;
  readonly setup?: string;
} {
  const { setup, build, types, test } = { ...detected.commands, ...typesOf(detected), ...checks };
  return {
    ...(test ? { test } : {}),
    ...(types ? { types } : {}),
    ...(build ? { build } : {}),
    ...(setup ? { setup } : {}),
  };
}

const typesOf = ({ types }: DetectedChecks) => (types ? { types: types.command } : {});

/** The file that each command comes from. */
export function originsOf(settings: Settings, detected: DetectedChecks): CommandFiles {
  const used = Object.keys(commandsOf(settings, detected)) as (keyof CommandFiles)[];
  return Object.fromEntries(
    used.map((name) => [name, settings.checks[name] ? SETTINGS_FILE : fileOf(name, detected)]),
  );
}

const fileOf = (name: keyof CommandFiles, { from, types }: DetectedChecks): string | undefined =>
  name === 'types' ? types?.file : from[name];

/** Commands that the settings define or disable. */
export const namedIn = ({ checks }: Settings): readonly CommandName[] =>
  COMMAND_NAMES.filter((name) => checks[name] !== undefined);

/** The recipe that a run was admitted with, and what else was detected in its files. */
export async function detectedRecipe(
  world: Pick<World, 'workspaces'>,
  source: RepositorySource,
  { task, checks }: { readonly task: Pick<Task, 'base' | 'settings'>; readonly checks: Partial<ChecksView> },
): Promise<DetectedRecipe> {
  const { setup, build, test } = task.settings.checks;
  const commands = { ...(setup ? { setup } : {}), ...(build ? { build } : {}), ...(test ? { test } : {}) };
  const { sha } = task.base;
  const { others, removable } = await detect(world, source, sha);
  const read = async (path: string) => (await readTextAt(world, source, sha, path)) ?? '';
  const inLock = removableInLock(await read('package.json'), npmLockPackages(await read(NPM_LOCK)) ?? {});
  return {
    recipe: { commands, from: checks.from ?? {} },
    named: checks.named ?? [],
    others,
    removable: [...removable, ...inLock],
  };
}

export async function detect(world: Pick<World, 'workspaces'>, source: RepositorySource, sha: Sha) {
  const files = await world.workspaces.listFiles(source, sha);
  const read: Record<string, string> = {};
  for (const file of checkFiles(files)) {
    const text = await readTextAt(world, source, sha, file);
    if (text !== null) read[file] = text;
  }
  return detectChecks({ files, read });
}
