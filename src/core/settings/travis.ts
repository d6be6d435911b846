import { z } from 'zod';
import { type CiCommand, scriptCommands } from './ci-commands.ts';
import type { CiJob } from './ci-workflow.ts';
import { readPlainYaml } from './toml-and-yaml.ts';

export const TRAVIS_FILE = '.travis.yml';

/** Maximum commands of a phase that are read. */
const MAX_PHASE_COMMANDS = 30;

const isCommandLine = (value: unknown): value is string => typeof value === 'string';

/** A command, or several; other values are words of Travis, such as `skip`. */
const Phase = z
  .union([z.string(), z.array(z.unknown())])
  .transform((value) =>
    (typeof value === 'string' ? [value] : value.filter(isCommandLine)).slice(0, MAX_PHASE_COMMANDS),
  )
  .catch([]);
const Travis = z.object({ before_install: Phase, install: Phase, before_script: Phase, script: Phase });
/** By the names of their keys there. */
const TravisVersions = z.object({ node_js: Phase, python: Phase });

/** Commands of Travis run at the top of the repository; its variables depend on the entry of the matrix. */
const PLACE = {
  folder: '',
  value: () => null,
  env: new Map<string, string>(),
  own: new Map<string, string>(),
};

/** What no current Python runs, and programs that `go get` installed before modules. */
const OUTDATED = /\bsetup\.py\s+test\b|\bnosetests\b|^go get (?!.*\.\/)/;

/**
 * The commands of .travis.yml as a CI job; null if it names no recognizable tests. Its services are left out: such files
 * are mostly old.
 */
export function travisJob(read: Readonly<Record<string, string>>): CiJob | null {
  const travis = Travis.safeParse(readPlainYaml(read[TRAVIS_FILE] ?? '')).data;
  if (travis === undefined) return null;
  const { before_install, install, before_script, script } = travis;
  const commands = [...before_install, ...install, ...before_script, ...script]
    .flatMap((line): readonly CiCommand[] => scriptCommands(line, PLACE))
    .filter(({ command }) => !OUTDATED.test(command));
  const last = commands.findLastIndex(({ part }) => part === 'test');
  if (last < 0) return null;
  return {
    file: TRAVIS_FILE,
    commands: commands.slice(0, last + 1),
    versions: new Map(),
    services: [],
    env: new Map(),
  };
}

/** The versions of Node and Python that .travis.yml tests with. */
export function travisVersions(read: Readonly<Record<string, string>>): Pick<CiJob, 'file' | 'versions'> {
  const found = TravisVersions.safeParse(readPlainYaml(read[TRAVIS_FILE] ?? '')).data;
  const versions = new Map([
    ['node', found?.node_js ?? []],
    ['python', found?.python ?? []],
  ]);
  return { file: TRAVIS_FILE, versions };
}
