import { fillCaches } from './compiled-ecosystems.ts';
import type { Ecosystem, RepositorySnapshot } from './repository-recipe.ts';

/** Files that say whether there are tests: at the top, or in a folder of tests. */
export const isTestsOfC = (path: string): boolean =>
  /^(?:tests?\/|src\/)?(?:Makefile\.(?:am|in)|meson\.build)$/.test(path);

const textsNamed = ({ read }: RepositorySnapshot, name: RegExp): string =>
  Object.entries(read)
    .flatMap(([path, text]) => (isTestsOfC(path) && name.test(path) ? [text] : []))
    .join('\n');

/** A target `check` of automake with tests, or a target `check` or `test` that is written by hand. */
function checkTarget(repository: RepositorySnapshot): 'check' | 'test' | null {
  const automake = textsNamed(repository, /\.am$/);
  if (/^(?:dist_)?(?:check_\w+|TESTS)\s*\+?=|^check-local\s*:/m.test(automake)) return 'check';
  const plain = automake === '' ? textsNamed(repository, /^Makefile\.in$/) : automake;
  return (['check', 'test'] as const).find((name) => RegExp(`^${name}\\s*:(?!=)`, 'm').test(plain)) ?? null;
}

/** Set-up writes `configure` where only its source is there, since that may fetch parts. */
export function autotools(repository: RepositorySnapshot): Ecosystem | null {
  const { files } = repository;
  const file = ['configure.ac', 'configure.in', 'configure'].find((one) => files.has(one));
  const target = file === undefined ? null : checkTarget(repository);
  if (file === undefined || target === null) return null;
  const script = ['autogen.sh', 'bootstrap.sh', 'bootstrap'].find((one) => files.has(one));
  const generate = script === undefined ? 'autoreconf -fi' : `NOCONFIGURE=1 sh ./${script}`;
  const before = files.has('configure') ? '' : `${generate} && `;
  return {
    file,
    setup: `${before}sh ./configure && ${fillCaches('make')}`,
    build: 'make',
    test: `make ${target}`,
  };
}

export function meson(repository: RepositorySnapshot): Ecosystem | null {
  const { files } = repository;
  const file = 'meson.build';
  if (
    !files.has(file) ||
    !/^[ \t]*(?:\w+\.)?(?:test|subdir)\s*\(\s*'(?:tests?'|[^']*',)/m.test(
      textsNamed(repository, /meson\.build$/),
    )
  )
    return null;
  const folder = ['build', 'build-tests'].find(
    (name) => ![...files].some((path) => path.startsWith(`${name}/`)),
  );
  if (folder === undefined) return null;
  const build = `meson compile -C ${folder}`;
  return {
    file,
    setup: `meson setup ${folder} && ${fillCaches(build)}`,
    build,
    test: `meson test -C ${folder}`,
  };
}
