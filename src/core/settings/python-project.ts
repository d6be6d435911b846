import { z } from 'zod';
import { noxInstalls } from './noxfile.ts';
import { type Extras, extrasOf } from './python-extras.ts';
import { readPlainToml } from './toml-and-yaml.ts';
import { toxEnvironment } from './tox.ts';

/** A Python project's test requirements according to its manifests. */
export interface PythonProject {
  /** It can be installed as a package. */
  readonly isPackage: boolean;
  /** Its extras for tests and development. */
  readonly extras: readonly string[];
  /** Packages that each extra of the project lists, as far as its files say them. */
  readonly listedBy: Extras;
  /** Packages in its groups for tests and development, with their versions, in pip's syntax. */
  readonly requirements: readonly string[];
  /** Groups of `[dependency-groups]` for tests and development. */
  readonly groups: readonly string[];
  /** Groups of Poetry that are excluded unless named, without those that tests do not need. */
  readonly optionalGroups: readonly string[];
  /** Groups and extras for documentation, releases and the like, which tests do not need. */
  readonly unneeded: { readonly groups: readonly string[]; readonly extras: readonly string[] };
  readonly uv: {
    /** Version of uv that it requires; empty for any. */
    readonly version: string;
    readonly hasWorkspace: boolean;
    /** Some of its extras or groups conflict, so they cannot all be installed together. */
    readonly hasConflicts: boolean;
  };
}

const FOR_TESTS = /^(?:tests?|testing|pytest|unit|unittests?)$/i;
/** Names of extras and groups for development. */
export const FOR_DEVELOPMENT = /^(?:dev|develop|development)$/i;
/** Groups that tests do not need, and that a group for development may include. */
const NOT_FOR_TESTS =
  /^(?:docs?|documentation|docs?[-_]\w+|site|website|release|releasing|publish|dist|pkg[-_]\w+|fix|pre[-_]?commit|bench\w*|changelog|news|examples?|notebooks?)$/i;
/** What hatch itself puts into its environment for tests, but for the one that changes the order of tests. */
const HATCH_TEST = [
  'coverage[toml]',
  'pytest',
  'pytest-mock',
  'pytest-rerunfailures',
  'pytest-xdist[psutil]',
];
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
const HatchManifest = z.object({ envs: z.record(z.string(), HatchEnvironment).catch({}) });
const Project = tomlTable({ 'optional-dependencies': Names });

/**
 * `read` has the texts of pyproject.toml, setup.cfg, setup.py, tox.ini, noxfile.py and hatch.toml. Hostile or damaged files are
 * ignored. `narrow`: without extras and groups for development, if there are some for tests.
 */
export function pythonProject(
  files: ReadonlySet<string>,
  read: Readonly<Record<string, string>>,
  narrow = false,
): PythonProject {
  const manifest = PythonManifest.parse(readPlainToml(read['pyproject.toml'] ?? ''));
  const { poetry, pdm, hatch, uv } = manifest.tool;
  const chosen = namesForTests(narrow);
  const groups = chosen(Object.keys(manifest['dependency-groups']));
  const environments = testEnvironments({ ...hatch.envs, ...hatchToml(read) });
  const listedBy = extrasOf(tablesOfExtras(manifest), read);
  const extras = [...listedBy.keys()];
  const requirements = [
    ...unique([...groups, ...toxEnvironment(read).groups, ...noxInstalls(read['noxfile.py']).groups]).flatMap(
      (name) => groupRequirements(manifest, name),
    ),
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
      ...chosen(extras),
      ...environments.flatMap(({ features }) => features.filter((name) => extras.includes(name))),
    ]).filter((name) => /^[\w.-]{1,60}$/.test(name)),
    listedBy,
    requirements: unique(requirements.map((one) => one.trim()))
      .filter(isRequirement)
      .slice(0, MAX_REQUIREMENTS),
    groups: groups.filter((name) => /^[\w.-]{1,60}$/.test(name)),
    optionalGroups: Object.entries(poetry.group).flatMap(([name, { optional }]) =>
      optional === true && /^[\w.-]{1,60}$/.test(name) && !NOT_FOR_TESTS.test(name) ? [name] : [],
    ),
    unneeded: { groups: unneededGroups(manifest), extras: extras.filter((name) => NOT_FOR_TESTS.test(name)) },
    uv: {
      version: /^[\d.,<>=!~ *]*$/.test(uv['required-version']) ? uv['required-version'] : '',
      hasWorkspace: uv.workspace !== undefined,
      hasConflicts: uv.conflicts.length > 0,
    },
  };
}

/** Groups of `[dependency-groups]`, and those of Poetry and pdm that are not optional. */
const unneededGroups = ({ 'dependency-groups': groups, tool: { poetry, pdm } }: PythonManifest) =>
  unique([
    ...Object.keys(groups),
    ...Object.keys(pdm['dev-dependencies']),
    ...Object.entries(poetry.group).flatMap(([name, { optional }]) => (optional === true ? [] : [name])),
  ]).filter((name) => NOT_FOR_TESTS.test(name));

const isForTests = (name: string): boolean => FOR_TESTS.test(name) || FOR_DEVELOPMENT.test(name);

/** Of these names, those for tests and development; `narrow`: those for tests alone, if there are any. */
const namesForTests =
  (narrow: boolean) =>
  (names: readonly string[]): readonly string[] => {
    const tests = names.filter((name) => FOR_TESTS.test(name));
    return narrow && tests.length > 0 ? tests : names.filter(isForTests);
  };

type HatchEnvironment = z.infer<typeof HatchEnvironment>;

const hatchToml = (read: Readonly<Record<string, string>>) =>
  HatchManifest.parse(readPlainToml(read['hatch.toml'] ?? '')).envs;

const testEnvironments = (all: Readonly<Record<string, HatchEnvironment>>): readonly HatchEnvironment[] =>
  Object.entries(all).flatMap(([name, one]) =>
    HATCH_ENVIRONMENTS.test(name) ? [withHatchTest(name, one)] : [],
  );

const withHatchTest = (name: string, environment: HatchEnvironment): HatchEnvironment =>
  name === 'hatch-test' && environment.dependencies.length === 0
    ? { ...environment, dependencies: HATCH_TEST }
    : environment;

/** Tables whose keys are names of extras, by the program that reads them. */
const tablesOfExtras = ({ project, tool }: PythonManifest) => [
  Project.parse(project ?? {})['optional-dependencies'],
  tool.poetry.extras,
  tool.flit.metadata['requires-extra'],
  tool.setuptools.dynamic['optional-dependencies'],
];

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)];

const MAX_REQUIREMENTS = 200;
/**
 * A package with extras, versions and conditions. Excludes direct URLs, which lead outside the registries and would
 * fail the whole set-up. Single quotes are allowed only around a condition's value.
 */
const REQUIREMENT =
  /^[A-Za-z0-9][\w.-]{0,100} *(?:\[[\w,. -]{1,200}\] *)?(?:\(?[\w.,<>=!~* ]{0,200}\)?)?(?:; *[\w.,<>=!~*()"' +-]{1,300})?$/;

/** Whether pip can install it from an index. */
export const isRequirement = (text: string): boolean => REQUIREMENT.test(text);

/** Groups that one group includes; each counts once. */
const MAX_INCLUDED = 20;
const Included = z.object({ 'include-group': z.string() });

/** What a group lists, and what the groups list that it includes; for development, without those that tests do not need. */
function groupRequirements(manifest: PythonManifest, first: string): readonly string[] {
  const names = new Set([first]);
  const found: string[] = [];
  // The set grows during the loop; each group occurs once, even in a cycle.
  for (const name of names) {
    if (names.size > MAX_INCLUDED) break;
    for (const one of manifest['dependency-groups'][name] ?? []) {
      if (typeof one === 'string') found.push(one);
      const included = Included.safeParse(one).data;
      if (included === undefined) continue;
      const { 'include-group': other } = included;
      if (!(FOR_DEVELOPMENT.test(first) && NOT_FOR_TESTS.test(other))) names.add(other);
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
