import { z } from 'zod';
import { sectionsOf } from './recipes.ts';
import { readPlainToml } from './toml-and-yaml.ts';

/** A Python project's test requirements according to its manifests. */
export interface PythonProject {
  /** It can be installed as a package. */
  readonly isPackage: boolean;
  /** Its extras for tests and development. */
  readonly extras: readonly string[];
  /** Packages in its groups for tests and development, with their versions, in pip's syntax. */
  readonly requirements: readonly string[];
  /** Groups of `[dependency-groups]` for tests and development. */
  readonly groups: readonly string[];
  /** Groups of Poetry that are excluded unless named. */
  readonly optionalGroups: readonly string[];
  readonly uv: {
    /** Version of uv that it requires; empty for any. */
    readonly version: string;
    readonly hasWorkspace: boolean;
    /** Some of its extras or groups conflict, so they cannot all be installed together. */
    readonly hasConflicts: boolean;
  };
}

const FOR_TESTS = /^(?:tests?|testing|pytest|unit|unittests?|dev|develop|development)$/i;
/** Environments of hatch in which tests run. */
const HATCH_ENVIRONMENTS = /^(?:default|hatch-test|tests?|testing|dev)$/;

const Names = z.record(z.string(), z.unknown()).catch({});
const TextList = z
  .array(z.unknown())
  .transform((all) => all.filter((one): one is string => typeof one === 'string'))
  .catch([]);
const Lists = z.record(z.string(), TextList).catch({});
const FLAG = z.boolean().catch(false);
const PoetryGroup = z.object({ optional: FLAG.optional(), dependencies: Names }).catch({ dependencies: {} });
const HatchEnvironment = z
  .object({ dependencies: TextList, 'extra-dependencies': TextList, features: TextList })
  .catch({ dependencies: [], 'extra-dependencies': [], features: [] });
const tomlTable = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.preprocess(
    (value) => (value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {}),
    z.object(shape),
  );
const PythonManifest = z.object({
  project: z.unknown().optional(),
  'build-system': z.unknown().optional(),
  'dependency-groups': z.record(z.string(), z.array(z.unknown()).catch([])).catch({}),
  tool: tomlTable({
    poetry: tomlTable({
      name: z.unknown().optional(),
      'package-mode': z.boolean().catch(true),
      extras: Names,
      group: z.record(z.string(), PoetryGroup).catch({}),
      'dev-dependencies': Names,
    }),
    pdm: tomlTable({ 'dev-dependencies': Lists }),
    flit: tomlTable({ metadata: tomlTable({ 'requires-extra': Names }) }),
    hatch: tomlTable({ envs: z.record(z.string(), HatchEnvironment).catch({}) }),
    setuptools: tomlTable({ dynamic: tomlTable({ 'optional-dependencies': Names }) }),
    uv: tomlTable({
      'required-version': z.string().max(60).catch(''),
      'dev-dependencies': TextList,
      workspace: z.unknown().optional(),
      conflicts: z.array(z.unknown()).catch([]),
      package: z.boolean().catch(true),
    }),
  }),
});
type PythonManifest = z.infer<typeof PythonManifest>;
const Project = tomlTable({ 'optional-dependencies': Names });

/** `read` has the texts of pyproject.toml and setup.cfg. Hostile or damaged files are ignored. */
export function pythonProject(
  files: ReadonlySet<string>,
  read: Readonly<Record<string, string>>,
): PythonProject {
  const manifest = PythonManifest.parse(readPlainToml(read['pyproject.toml'] ?? ''));
  const { poetry, pdm, flit, hatch, setuptools, uv } = manifest.tool;
  const groups = Object.keys(manifest['dependency-groups']).filter(isForTests);
  const environments = Object.entries(hatch.envs).flatMap(([name, environment]) =>
    HATCH_ENVIRONMENTS.test(name) ? [environment] : [],
  );
  const legacy = sectionsOf((read['setup.cfg'] ?? '').slice(0, 64 * 1024)).get('options.extras_require');
  const extras = [
    ...Object.keys(Project.parse(manifest.project ?? {})['optional-dependencies']),
    ...Object.keys(poetry.extras),
    ...Object.keys(flit.metadata['requires-extra']),
    ...Object.keys(setuptools.dynamic['optional-dependencies']),
    ...(legacy?.keys() ?? []),
  ];
  const requirements = [
    ...groups.flatMap((name) => groupRequirements(manifest, name)),
    ...uv['dev-dependencies'],
    ...Object.entries(pdm['dev-dependencies']).flatMap(([name, list]) => (isForTests(name) ? list : [])),
    ...poetryRequirements(poetry),
    ...environments.flatMap((one) => [...one.dependencies, ...one['extra-dependencies']]),
  ];
  return {
    isPackage:
      files.has('setup.py') ||
      (poetry['package-mode'] &&
        uv.package &&
        [manifest.project, manifest['build-system'], poetry.name].some((one) => one !== undefined)),
    extras: unique([
      ...extras.filter(isForTests),
      ...environments.flatMap(({ features }) => features.filter((name) => extras.includes(name))),
    ]).filter((name) => /^[\w.-]{1,60}$/.test(name)),
    requirements: unique(requirements.map((one) => one.trim()))
      .filter((one) => REQUIREMENT.test(one))
      .slice(0, MAX_REQUIREMENTS),
    groups: groups.filter((name) => /^[\w.-]{1,60}$/.test(name)),
    optionalGroups: Object.entries(poetry.group).flatMap(([name, { optional }]) =>
      optional === true && /^[\w.-]{1,60}$/.test(name) ? [name] : [],
    ),
    uv: {
      version: /^[\d.,<>=!~ *]*$/.test(uv['required-version']) ? uv['required-version'] : '',
      hasWorkspace: uv.workspace !== undefined,
      hasConflicts: uv.conflicts.length > 0,
    },
  };
}

const isForTests = (name: string): boolean => FOR_TESTS.test(name);
const unique = (names: readonly string[]): readonly string[] => [...new Set(names)];

const MAX_REQUIREMENTS = 200;
/**
 * A package with extras, versions and conditions. Excludes direct URLs, which lead outside the registries and would
 * fail the whole set-up. Single quotes are allowed only around a condition's value.
 */
const REQUIREMENT =
  /^[A-Za-z0-9][\w.-]{0,100} *(?:\[[\w,. -]{1,200}\] *)?(?:\(?[\w.,<>=!~* ]{0,200}\)?)?(?:; *[\w.,<>=!~*()"' +-]{1,300})?$/;

/** Groups that one group includes; each counts once. */
const MAX_INCLUDED = 20;
const Included = z.object({ 'include-group': z.string() });

/** What a group lists and what the groups list that it includes. */
function groupRequirements(manifest: PythonManifest, first: string): readonly string[] {
  const names = new Set([first]);
  const found: string[] = [];
  // The set grows during the loop; each group occurs once, even in a cycle.
  for (const name of names) {
    if (names.size > MAX_INCLUDED) break;
    for (const one of manifest['dependency-groups'][name] ?? []) {
      if (typeof one === 'string') found.push(one);
      const included = Included.safeParse(one).data;
      if (included) names.add(included['include-group']);
    }
  }
  return found;
}

function poetryRequirements(poetry: PythonManifest['tool']['poetry']): readonly string[] {
  const tables = [
    poetry['dev-dependencies'],
    ...Object.entries(poetry.group).flatMap(([name, group]) =>
      isForTests(name) ? [group.dependencies] : [],
    ),
  ];
  return tables.flatMap((one) =>
    Object.entries(one).flatMap(([name, value]) => poetryRequirement(name, value) ?? []),
  );
}

const PoetryDependency = z.object({
  version: z.string(),
  extras: TextList.optional(),
  optional: FLAG.optional(),
});

/** Null for Python itself, and for packages outside the registry. */
function poetryRequirement(name: string, value: unknown): string | null {
  const { version, extras = [] } =
    typeof value === 'string' ? { version: value } : (PoetryDependency.safeParse(value).data ?? {});
  if (version === undefined || name === 'python') return null;
  return `${name}${extras.length > 0 ? `[${extras.join(',')}]` : ''}${pipVersions(version)}`;
}

/** Poetry's `^1.2`, `~1.2` and `1.2` in pip's syntax; no limit for alternatives. */
function pipVersions(constraint: string): string {
  if (constraint.includes('||')) return '';
  const parts = constraint.split(/[\s,]+(?=[\d^~<>=!*])/).map((part) => part.trim());
  return parts.flatMap(pipVersion).join(',');
}

function pipVersion(part: string): readonly string[] {
  const [, sign = '', version = ''] = /^(\^|~(?!=))?\s*(\d+(?:\.\d+)*)$/.exec(part) ?? [];
  if (part === '*' || part === '') return [];
  if (version === '') return /^\d+(?:\.\d+)*\.\*$/.test(part) ? [`==${part}`] : [part];
  if (sign === '') return [`==${version}`];
  const numbers = version.split('.').map(Number);
  const first = numbers.findIndex((number) => number > 0);
  const at = sign === '~' ? Math.min(1, numbers.length - 1) : first < 0 ? numbers.length - 1 : first;
  const next = [...numbers.slice(0, at), (numbers[at] ?? 0) + 1].join('.');
  return [`>=${version}`, `<${next}`];
}

/**
 * Output of pytest when a plugin or test module is not installed. A fixed list, so that output cannot name packages.
 */
const PYTHON_TOOLS: readonly (readonly [sign: RegExp, distribution: string])[] = [
  [/No module named '?pytest'?(?![\w.])/, 'pytest'],
  [/unrecognized arguments:[^\n]* --(?:no-)?cov\b/, 'pytest-cov'],
  [/unrecognized arguments:[^\n]* (?:-n\b|--numprocesses|--dist)/, 'pytest-xdist'],
  [/unrecognized arguments:[^\n]* --timeout\b/, 'pytest-timeout'],
  [/unrecognized arguments:[^\n]* --benchmark/, 'pytest-benchmark'],
  [/unrecognized arguments:[^\n]* --reruns\b/, 'pytest-rerunfailures'],
  [/fixture 'mocker' not found/, 'pytest-mock'],
  [/fixture 'benchmark' not found/, 'pytest-benchmark'],
  [/fixture 'httpbin' not found/, 'pytest-httpbin'],
  [/Unknown config option: asyncio_mode|async def functions are not natively supported/, 'pytest-asyncio'],
  ...Object.entries({
    attr: 'attrs',
    coverage: 'coverage',
    dateutil: 'python-dateutil',
    distutils: 'setuptools',
    flask: 'flask',
    freezegun: 'freezegun',
    hypothesis: 'hypothesis',
    jinja2: 'jinja2',
    mock: 'mock',
    nose: 'nose',
    numpy: 'numpy',
    parameterized: 'parameterized',
    PIL: 'pillow',
    pkg_resources: 'setuptools<81',
    pretend: 'pretend',
    pytest_asyncio: 'pytest-asyncio',
    pytest_mock: 'pytest-mock',
    pytz: 'pytz',
    requests: 'requests',
    requests_mock: 'requests-mock',
    responses: 'responses',
    setuptools: 'setuptools',
    six: 'six',
    toml: 'toml',
    tomli: 'tomli',
    trio: 'trio',
    trustme: 'trustme',
    typing_extensions: 'typing-extensions',
    yaml: 'pyyaml',
  }).map(
    ([name, distribution]) => [RegExp(`No module named '${name}(?:\\.[\\w.]+)?'`), distribution] as const,
  ),
];

/** Packages whose absence the output of pytest shows. */
export const missingPythonPackages = (output: string): readonly string[] => [
  ...new Set(PYTHON_TOOLS.flatMap(([sign, name]) => (sign.test(output) ? [name] : []))),
];
