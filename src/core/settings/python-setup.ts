import { type PythonProject, pythonProject } from './python-project.ts';
import { chainParts } from './test-runners.ts';

/** The Python of the virtual environment that set-up makes in the repository. */
export const VENV = '.venv/bin/python';
/** It sees the host's packages: if the index cannot be reached, installed ones may suffice. */
export const MAKE_VENV = 'python3 -m venv --system-site-packages .venv';
/** Usual files for additional test requirements. */
const REQUIREMENTS =
  /^(?:(?:dev|test|tests)[-_])?requirements(?:[-_](?:dev|test|tests|testing))?\.(?:txt)$|^requirements\/(?:dev|test|tests|testing|base)\.txt$/;

interface PythonFiles {
  readonly files: ReadonlySet<string>;
  readonly read: Readonly<Record<string, string>>;
}

/**
 * Everything is installed into a virtual environment of the repository. `more` are additional packages. Null if its
 * files list no packages.
 */
export function pythonSetup(repository: PythonFiles, more: readonly string[]): string | null {
  const { files, read } = repository;
  const project = pythonProject(files, read);
  const locked = lockedSetup(files, project);
  if (locked !== null) return locked;
  const lists = [...files].filter((path) => REQUIREMENTS.test(path)).sort();
  const { isPackage, extras } = project;
  const listed = project.requirements.map(quoted);
  if (!isPackage && lists.length === 0 && listed.length === 0) return null;
  const wanted = [
    ...(isPackage ? [`-e '.${extras.length > 0 ? `[${extras.join(',')}]` : ''}'`] : []),
    ...lists.map((path) => `-r ${path}`),
    ...listed,
    // Packages that the files require in a specific version are not requested again.
    ...more.filter((one) => !listed.some((other) => other.startsWith(`'${one}`))),
  ];
  const install = `${VENV} -m pip install ${wanted.join(' ')}`;
  const enough = more.includes('pytest') ? ` || ${VENV} -m pytest --version` : '';
  return `${MAKE_VENV} && { ${install}${enough}; }`;
}

const quoted = (requirement: string): string => `'${requirement.replaceAll("'", '"')}'`;

/** Commands for lock files, by the program that wrote them. All of them create the environment in `.venv`. */
function lockedSetup(files: ReadonlySet<string>, project: PythonProject): string | null {
  if (files.has('uv.lock')) return uvSetup(project);
  if (files.has('poetry.lock')) {
    const optional = project.optionalGroups.length > 0 ? ` --with ${project.optionalGroups.join(',')}` : '';
    return `POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction --all-extras${optional}`;
  }
  if (files.has('pdm.lock')) return 'pdm sync -G :all';
  if (files.has('Pipfile.lock')) return 'PIPENV_VENV_IN_PROJECT=1 pipenv sync --dev';
  return null;
}

/** uv would download a missing Python from a host that is not a registry. */
function uvSetup({ uv, extras, groups }: PythonProject): string {
  const all = uv.hasConflicts
    ? [...extras.map((name) => `--extra ${name}`), ...groups.map((name) => `--group ${name}`)]
    : ['--all-extras', '--all-groups'];
  const packages = uv.hasWorkspace ? ['--all-packages'] : [];
  return ['UV_PYTHON_DOWNLOADS=never uv sync --frozen', ...packages, ...all].join(' ');
}

/** Programs of Python packages that can be started as modules too. */
const MODULES = /^(?:pip|pytest|tox|nox|coverage|stestr|nose2|green)[\d.]*$/;

/** Rewrites a command for system-wide Python to run in the virtual environment. */
export function inVenv(command: string): string {
  const [, folder, inner] = /^\(cd (\S+) && (.*)\)$/.exec(command) ?? [];
  if (folder !== undefined && inner !== undefined)
    return `(cd ${folder} && ${inside(inner, `${'../'.repeat(folder.split('/').length)}${VENV}`)})`;
  return inside(command, VENV);
}

function inside(command: string, python: string): string {
  const parts = chainParts(command) ?? [command];
  return parts
    .map((part) => {
      const [, set = '', program = '', rest = ''] =
        /^((?:\w+=\S*\s+)*)(?:(?:poetry|pdm|pipenv|uv)\s+run\s+(?=(?:python|pytest|coverage|tox|nox)\b))?(\S+)(.*)$/s.exec(
          part,
        ) ?? [];
      if (/^python[\d.]*$/.test(program)) return `${set}${python}${rest}`;
      if (MODULES.test(program)) return `${set}${python} -m ${program.replace(/[\d.]+$/, '')}${rest}`;
      // Tests have no network, so uv must not look for newer packages.
      if (program === 'uv')
        return part.replace(/^((?:\w+=\S*\s+)*uv\s+run)\s+(?!.*--no-sync)/, '$1 --no-sync ');
      return part;
    })
    .join(' && ');
}
