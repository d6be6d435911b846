import { type PackageFacts, readPackage } from './package-scripts.ts';
import type { NamedPackage } from './package-selection.ts';
import { type TaskFiles, taskFiles } from './recursive-commands.ts';
import { goTestFolders, workspaceGraph } from './workspace-graph.ts';

/** A package of a workspace, with the folders of those that it depends on. */
interface DependentPackage extends NamedPackage {
  readonly dependsOn: readonly string[];
}

/** What the files of a repository say to the steps of one command. */
export interface StepFacts {
  readonly tasks: TaskFiles;
  /** Facts of the package.json in a folder; null for none. */
  packageOf(folder: string): PackageFacts | null;
  /** The packages of the workspace of package.json or pnpm. */
  packages(): readonly DependentPackage[];
  /** See `goTestFolders`. */
  goFolders(): readonly string[];
}

/** Each file is parsed at most once: a command may start thousands of others, and a file may be large. */
export function stepFacts(files: Readonly<Record<string, string>>): StepFacts {
  const known = new Map<string, PackageFacts | null>();
  const found: { packages?: readonly DependentPackage[]; goFolders?: readonly string[] } = {};
  const packageOf = (folder: string): PackageFacts | null => {
    const before = known.get(folder);
    if (before !== undefined) return before;
    const facts = readPackage(files[folder === '' ? 'package.json' : `${folder}/package.json`] ?? '');
    known.set(folder, facts);
    return facts;
  };
  const packages = (): readonly DependentPackage[] =>
    workspaceGraph(files).flatMap(({ kind, folder, dependsOn }) => {
      const facts = kind === 'node' ? packageOf(folder) : null;
      return facts ? [{ folder, name: facts.name, dependsOn }] : [];
    });
  return {
    tasks: taskFiles(files),
    packageOf,
    packages() {
      found.packages ??= packages();
      return found.packages;
    },
    goFolders() {
      found.goFolders ??= goTestFolders(files);
      return found.goFolders;
    },
  };
}

/** Such a name of a package needs no quotes in a shell. */
export const PLAIN_NAME = /^[@\w./-]+$/;

/** Names of the packages that one depends on, directly or not. */
export function dependenciesOf(one: DependentPackage, all: readonly DependentPackage[]): readonly string[] {
  const found = new Set(one.dependsOn);
  // The set grows during the loop; each package occurs once, even in a cycle.
  for (const folder of found)
    for (const next of all.find((other) => other.folder === folder)?.dependsOn ?? []) found.add(next);
  return all.flatMap(({ folder, name }) =>
    found.has(folder) && folder !== one.folder && PLAIN_NAME.test(name) ? [name] : [],
  );
}
