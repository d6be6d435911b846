import { chainParts } from './test-runners.ts';

/** The Python of the virtual environment that set-up makes in the repository. */
export const VENV = '.venv/bin/python';
/** It sees the packages of the host: where the index cannot be reached, what is there already may do. */
export const MAKE_VENV = 'python3 -m venv --system-site-packages .venv';
/** Where projects write down what their tests need besides what the package needs. */
const REQUIREMENTS =
  /^(?:(?:dev|test|tests)[-_])?requirements(?:[-_](?:dev|test|tests|testing))?\.(?:txt)$|^requirements\/(?:dev|test|tests|testing|base)\.txt$/;
const FOR_TESTS = /^(?:tests?|testing|dev|development)$/;

interface PythonFiles {
  readonly files: ReadonlySet<string>;
  readonly read: Readonly<Record<string, string>>;
}

/**
 * Everything goes into a virtual environment of the repository. `more` are packages beyond those that its files list.
 * Null where they list none.
 */
export function pythonSetup({ files, read }: PythonFiles, more: readonly string[]): string | null {
  if (files.has('uv.lock')) return 'uv sync --frozen --all-extras --all-groups';
  const project = read['pyproject.toml'] ?? '';
  const isPackage = files.has('setup.py') || /^\[(?:project|build-system|tool\.poetry)\]/m.test(project);
  const lists = [...files].filter((path) => REQUIREMENTS.test(path)).sort();
  if (!isPackage && lists.length === 0) return null;
  const extras = keysOf(project, 'project.optional-dependencies').filter((name) => FOR_TESTS.test(name));
  const groups = keysOf(project, 'dependency-groups').filter((name) => FOR_TESTS.test(name));
  const wanted = [
    ...(isPackage ? [`-e '.${extras.length > 0 ? `[${extras.join(',')}]` : ''}'`] : []),
    ...lists.map((path) => `-r ${path}`),
    ...groups.map((name) => `--group ${name}`),
    ...more,
  ];
  const newer = groups.length > 0 ? [`${VENV} -m pip install --upgrade pip`] : [];
  const install = [...newer, `${VENV} -m pip install ${wanted.join(' ')}`].join(' && ');
  const enough = more.includes('pytest') ? ` || ${VENV} -m pytest --version` : '';
  return `${MAKE_VENV} && { ${install}${enough}; }`;
}

/** Names in one table of a TOML file whose values are lists; our own reading, good for the tables that are written by hand. */
function keysOf(toml: string, table: string): readonly string[] {
  const [, body = ''] = toml.split(`\n[${table}]`);
  const [own = ''] = body.split(/\n\[/);
  return [...own.matchAll(/^\s*"?([\w.-]+)"?\s*=\s*\[/gm)].map(([, name = '']) => name);
}

/** Programs of Python packages that can be started as modules too. */
const MODULES = /^(?:pip|pytest|tox|nox|coverage|hatch|stestr|nose2|green|pdm|poetry)[\d.]*$/;

/** A command as it runs in the virtual environment; written for a Python of the whole machine. */
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
      const [, set = '', program = '', rest = ''] = /^((?:\w+=\S*\s+)*)(\S+)(.*)$/s.exec(part) ?? [];
      if (/^python[\d.]*$/.test(program)) return `${set}${python}${rest}`;
      if (MODULES.test(program)) return `${set}${python} -m ${program.replace(/[\d.]+$/, '')}${rest}`;
      // Tests have no network, so uv must not look for newer packages.
      if (program === 'uv')
        return part.replace(/^((?:\w+=\S*\s+)*uv\s+run)\s+(?!.*--no-sync)/, '$1 --no-sync ');
      return part;
    })
    .join(' && ');
}
