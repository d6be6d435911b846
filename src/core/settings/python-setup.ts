import { chainParts } from './command-kinds.ts';
import { folderParts } from './folder-parts.ts';
import { noxInstalls, withOnePython } from './noxfile.ts';
import { wordsOf } from './program-words.ts';
import { isRequirement, type PythonProject, pythonProject } from './python-project.ts';
import { listsVersions, toxEnvironment } from './tox.ts';

/** The Python of the virtual environment that set-up makes in the repository. */
export const VENV = '.venv/bin/python';
/** It sees the host's packages: if the index cannot be reached, installed ones may suffice. */
export const MAKE_VENV = 'python3 -m venv --system-site-packages .venv';
/** Where pip fails, the pytest of the machine may do. */
export const ENOUGH = ` || ${VENV} -m pytest --version`;
/** For tests of a project that has no packages of its own. */
export const PYTEST_ALONE = `${MAKE_VENV} && { ${VENV} -m pip install pytest${ENOUGH}; }`;
/** The end of a set-up that may have brought pytest. */
export const PYTEST_TOO = ` && { ${VENV} -m pytest --version || ${VENV} -m pip install pytest; }`;
/** Usual files for additional test requirements. */
const REQUIREMENTS =
  /^(?:(?:dev|test|tests)[-_])?requirements(?:[-_](?:dev|test|tests|testing))?\.(?:txt)$|^requirements\/(?:dev|development|local|ci|test|tests|testing|base)\.txt$|^tests?\/requirements\.txt$/;

const isNotForDevelopment = (list: string): boolean =>
  /test/.test(list) || !/(?:^|[/_-])(?:dev|development|local)(?=[-_.])/.test(list);

interface PythonFiles {
  readonly files: ReadonlySet<string>;
  readonly read: Readonly<Record<string, string>>;
}

/** Packages that set-up leaves out. */
export interface LeanSetup {
  /** Extras, groups and requirement lists for development, if there are some for tests. */
  readonly development?: boolean;
  /** What only tox.ini or noxfile.py lists. */
  readonly tox?: boolean;
}

/**
 * Everything is installed into a virtual environment of the repository. `more` are additional packages. Null if its
 * files list no packages.
 */
export function pythonSetup(
  { files, read: all }: PythonFiles,
  more: readonly string[],
  without: LeanSetup = {},
): string | null {
  const { 'tox.ini': _tox, 'noxfile.py': _nox, ...others } = all;
  const read = without.tox ? others : all;
  const project = pythonProject(files, read, without.development);
  const locked = lockedSetup(files, project);
  if (locked !== null) return locked;
  const tools = without.tox ? [] : [toxEnvironment(all), noxInstalls(all['noxfile.py'])];
  const ofTools = tools.flatMap((one) => one.lists).filter((path) => files.has(path));
  const usual = [...files].filter((path) => REQUIREMENTS.test(path)).sort();
  const narrow = without.development && usual.some((path) => /test/.test(path));
  const lists = [...new Set([...(narrow ? usual.filter(isNotForDevelopment) : usual), ...ofTools])];
  const { isPackage } = project;
  const extras = [...new Set([...project.extras, ...tools.flatMap((one) => one.extras)])];
  // pip would refuse versions that the project's own files contradict, and install nothing.
  const known = new Set(
    [
      ...project.requirements,
      ...extras.flatMap((name) => project.listedBy.get(name) ?? []),
      ...lists.flatMap((path) => (read[path] ?? '').split('\n').map((line) => line.trim())),
    ].map(packageNameOf),
  );
  const added = tools
    .flatMap((one) => one.packages)
    .filter((one) => isRequirement(one) && !known.has(packageNameOf(one)));
  const listed = [...project.requirements, ...added].map(quoted);
  if (!isPackage && lists.length === 0 && listed.length === 0) return null;
  const wanted = [
    ...(isPackage ? [`-e '.${extras.length > 0 ? `[${extras.join(',')}]` : ''}'`] : []),
    ...lists.map((path) => `-r ${path}`),
    ...listed,
    ...more.filter((one) => !listed.some((other) => other.startsWith(`'${one}`))),
  ];
  const install = `${VENV} -m pip install ${wanted.join(' ')}`;
  const enough = more.includes('pytest') ? ENOUGH : '';
  return `${MAKE_VENV} && { ${install}${enough}; }`;
}

/** The name of a required package, as the index compares it. */
const packageNameOf = (requirement: string): string =>
  (/^[\w.-]+/.exec(requirement)?.[0] ?? '').toLowerCase().replace(/[-_.]+/g, '-');

const quoted = (requirement: string): string => `'${requirement.replaceAll("'", '"')}'`;

/** Lock files of programs that pip does not read. */
export const PYTHON_LOCKS: ReadonlySet<string> = new Set([
  'uv.lock',
  'poetry.lock',
  'pdm.lock',
  'Pipfile.lock',
]);

/** Commands for lock files, by the program that wrote them. All of them create the environment in `.venv`. */
function lockedSetup(files: ReadonlySet<string>, project: PythonProject): string | null {
  if (files.has('uv.lock')) return uvSetup(project);
  if (files.has('poetry.lock')) {
    const { optionalGroups, unneeded } = project;
    const optional = optionalGroups.length > 0 ? ` --with ${optionalGroups.join(',')}` : '';
    const without = unneeded.groups.length > 0 ? ` --without ${unneeded.groups.join(',')}` : '';
    return `POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction --all-extras${optional}${without}`;
  }
  if (files.has('pdm.lock')) {
    const without = [...project.unneeded.groups, ...project.unneeded.extras];
    return `pdm sync -G :all${without.length > 0 ? ` --without ${without.join(',')}` : ''}`;
  }
  if (files.has('Pipfile.lock')) return 'PIPENV_VENV_IN_PROJECT=1 pipenv sync --dev';
  return null;
}

/**
 * uv would download a missing Python from a host that is not a registry, and take no other one than `.python-version`
 * names, even of another patch. The one on PATH was chosen by what the repository asks for; uv still compares it with
 * `requires-python`.
 */
function uvSetup({ uv, extras, groups, unneeded }: PythonProject): string {
  const all = uv.hasConflicts
    ? [...extras.map((name) => `--extra ${name}`), ...groups.map((name) => `--group ${name}`)]
    : [
        '--all-extras',
        ...unneeded.extras.map((name) => `--no-extra ${name}`),
        '--all-groups',
        ...unneeded.groups.map((name) => `--no-group ${name}`),
      ];
  const packages = uv.hasWorkspace ? ['--all-packages'] : [];
  return ['UV_PYTHON_DOWNLOADS=never uv sync --frozen --python python3', ...packages, ...all].join(' ');
}

/** Programs of the package index that set-up can install, by executable name. */
const TOOLS = ['uv', 'poetry', 'pdm', 'hatch', 'pipenv'] as const;
type PythonTool = (typeof TOOLS)[number];
/** The same, and those that go into the virtual environment of the repository. */
const PYTHON_TOOLS = [...TOOLS, 'tox', 'nox', 'pytest'] as const;

/** Where they are kept between set-up and tests: outside the repository, in set-up's HOME. */
const TOOLS_FOLDER = '~/.local/lib';

/**
 * A set-up command that installs the Python programs that it, or the test command, starts: each in a virtual
 * environment of its own in HOME, with a link in a folder on PATH. Existing programs are used. `versions` gives the
 * required version of a program, in pip's syntax.
 */
export function withPythonTools(
  setup: string,
  test: string,
  versions: Readonly<Partial<Record<PythonTool, string>>> = {},
): string {
  const used = TOOLS.filter((tool) => startsProgram(setup, tool) || startsProgram(test, tool));
  return [
    ...used.map((tool) => bringTool(tool, versions[tool] ?? '')),
    ...(setup === '' ? [] : [setup]),
  ].join(' && ');
}

function bringTool(tool: PythonTool, version: string): string {
  const folder = `${TOOLS_FOLDER}/${tool}`;
  return (
    `{ ${isOnPath(tool)} || { python3 -m venv ${folder} && ${folder}/bin/python -m pip install '${tool}${version}' && ` +
    `mkdir -p ~/.local/bin && ln -sf ${folder}/bin/${tool} ~/.local/bin; }; }`
  );
}

const isOnPath = (tool: PythonTool): string => `command -v ${tool} >/dev/null`;

/** Programs that a set-up command installs itself if they are missing. */
export const broughtBySetup = (setup: string): ReadonlySet<string> =>
  new Set(TOOLS.filter((tool) => setup.includes(`{ ${isOnPath(tool)} || {`)));

/** `bringTool` as part of a command, with what joins it to the next one. */
const BROUGHT = new RegExp(
  `\\{ command -v (${TOOLS.join('|')}) >/dev/null \\|\\| \\{ python3 -m venv ~/\\.local/lib/\\1 && ` +
    `~/\\.local/lib/\\1/bin/python -m pip install ('\\1[^'\\n]{0,100}') && ` +
    'mkdir -p ~/\\.local/bin && ln -sf ~/\\.local/lib/\\1/bin/\\1 ~/\\.local/bin; \\}; \\}( && )?',
  'g',
);

/**
 * A set-up command for display: without the 150 characters that install each tool, which would hide the rest in a
 * truncated line. A command that does nothing else is shown as the install of the tool. Not to be executed.
 */
export const shownSetup = (setup: string): string =>
  setup.replace(BROUGHT, (_, _tool: string, wanted: string, joined: string | undefined) =>
    joined === undefined ? `pip install ${wanted}` : '',
  );

/** Whether a command starts this program, directly or as a Python module. */
export function startsProgram(command: string, program: (typeof PYTHON_TOOLS)[number]): boolean {
  const parts = folderParts(command).flatMap(({ line }) => chainParts(line) ?? [line]);
  return parts.some((part) => {
    const words = wordsOf(part).filter((word) => !/^\w+=/.test(word) && word !== '{');
    return words[0] === program || (/python[\d.]*$/.test(words[0] ?? '') && words[2] === program);
  });
}

/** Whether a set-up command starts a program that reads a lock file of its own. */
export const startsPythonTool = (setup: string): boolean => TOOLS.some((tool) => startsProgram(setup, tool));

interface ToolProject {
  /** The Python that has tox or nox. */
  readonly python: string;
  /** The project can be installed. */
  readonly isPackage: boolean;
}

/** A test command that needs environments, and how set-up creates them. */
interface PreparedTests {
  readonly setup: string;
  readonly test: string;
}

/**
 * tox and nox create an environment for each kind of test when the tests run, which needs the network. Set-up creates
 * them instead, and the tests install nothing. The project is installed again in each of them in editable mode,
 * because otherwise every candidate would be tested with the base's code; hatch does so by itself. Null for commands
 * that start none of them.
 */
export function preparedEnvironments(
  test: string,
  read: Readonly<Record<string, string>>,
  project: ToolProject,
): PreparedTests | null {
  const parts = chainParts(test) ?? [test];
  const prepared = parts.map((part) => preparedPart(part, read));
  const setups = [
    ...prepared.flatMap((one) => one?.setup ?? []),
    ...prepared.flatMap((one) => (one?.folder === undefined ? [] : editable(one.folder, project))),
  ];
  if (setups.length === 0) return null;
  return {
    setup: [...new Set(setups)].join(' && '),
    test: parts.map((part, at) => prepared[at]?.test ?? part).join(' && '),
  };
}

interface PreparedPart extends PreparedTests {
  /** Where the environments are that contain the project; absent if the program keeps it up to date. */
  readonly folder?: string;
}

/** A command of the chain. */
function preparedPart(test: string, read: Readonly<Record<string, string>>): PreparedPart | null {
  const tox = /^((?:\w+=\S+ )*\S*python[\d.]* -m tox)\b(?: run\b)?(.*)$/.exec(test);
  if (tox) {
    const [, start = '', rest = ''] = tox;
    const options = `${rest}${/ -e| --env/.test(rest) || !listsVersions(read) ? '' : ' -e py'}`;
    return {
      setup: `${start} --notest${options}`,
      test: `${start} --skip-pkg-install${options}`,
      folder: '.tox',
    };
  }
  const hatch = /^((?:\w+=\S+ )*hatch) (test|run)\b(?: (?:(\w[\w.-]*):)?\S+)?/.exec(test);
  if (hatch) {
    const name = hatch[2] === 'test' ? 'hatch-test' : hatch[3];
    return { setup: `${hatch[1]} env create${name === undefined ? '' : ` ${name}`}`, test };
  }
  const nox = /^((?:\w+=\S+ )*\S*python[\d.]* -m nox)\b(.*)$/.exec(test);
  if (!nox) return null;
  const [, start = '', given = ''] = nox;
  const rest = withOnePython(given, read['noxfile.py']);
  return {
    setup: `${start} --install-only${rest.replace(/ --no-install\b/, '')}`,
    folder: '.nox',
    test: `${start} -R${rest.replace(/ -[rR]\b| --reuse-existing-virtualenvs\b| --no-install\b/g, '')}`,
  };
}

/** Every environment contains the project as it is in the repository; its dependencies are already installed. */
const editable = (folder: string, { python, isPackage }: ToolProject): readonly string[] =>
  isPackage
    ? [
        `for one in ${folder}/*/bin/python; do ${python} -m pip --python "$one" install --no-deps -e . || exit 1; done`,
      ]
    : [];
