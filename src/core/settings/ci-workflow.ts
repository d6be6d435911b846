import { z } from 'zod';
import { type CiCommand, folderIn, scriptCommands } from './ci-commands.ts';
import { readPlainYaml } from './toml-and-yaml.ts';

/** The steps of the CI job that runs the tests. */
export interface CiJob {
  /** Path of the workflow. */
  readonly file: string;
  /** In the order of the job's steps, up to its last tests. */
  readonly commands: readonly CiCommand[];
  /** Versions by the name of the set-up action (`node`, `python`, `java`, …), as written in the file. */
  readonly versions: ReadonlyMap<string, readonly string[]>;
  /** Containers that run next to the tests. */
  readonly services: readonly CiService[];
  /** Variables of the workflow, the job and its test steps, as written in the file. */
  readonly env: ReadonlyMap<string, string>;
}

/** A container that runs next to a job's tests. */
export interface CiService {
  readonly name: string;
  /** Such as `postgres:16`; empty where the file has none. */
  readonly image: string;
  readonly env: Readonly<Record<string, string>>;
  /** `host:container`, or one number. */
  readonly ports: readonly string[];
}

const MAX_WORKFLOWS = 12;
const MAX_ACTIONS = 6;
const MAX_JOBS = 40;
const MAX_JOB_STEPS = 60;
/** Project files that only test come first; then by name. */
const RANKS: readonly RegExp[] = [
  /\/(?:ci|tests?|unit-?tests?|linux|ubuntu)\.ya?ml$/i,
  /\/(?:build|main|check|checks|continuous-integration|node|python|go|rust|java|ruby|php|dotnet|pr|pull[-_]request|push)(?:[-_.]?(?:js|ci|tests?|package|app|\w*))\.ya?ml$/i,
  /(?:ci|test)/i,
];
const rankOf = (path: string): number => {
  const rank = RANKS.findIndex((pattern) => pattern.test(path));
  return rank < 0 ? RANKS.length : rank;
};

/** Paths of a repository's workflows, and of its own actions that they may use; bounded, most likely first. */
export function workflowFiles(paths: readonly string[]): readonly string[] {
  const workflows = paths.filter((path) => /^\.github\/workflows\/[^/]+\.ya?ml$/.test(path));
  const actions = paths.filter((path) => /^\.github\/(?:[\w.-]+\/){1,2}action\.ya?ml$/.test(path));
  const ranked = workflows.toSorted((a, b) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1));
  return [...ranked.slice(0, MAX_WORKFLOWS), ...actions.toSorted().slice(0, MAX_ACTIONS)];
}

/** Keeps only the string keys of a mapping. */
const Texts = z.record(z.string(), z.unknown()).catch({});
const OptionalText = z.string().optional().catch(undefined);
const Run = z
  .object({ run: z.object({ 'working-directory': OptionalText, shell: OptionalText }).catch({}) })
  .catch({ run: {} });
const Step = z
  .object({
    uses: OptionalText,
    run: OptionalText,
    with: Texts,
    if: OptionalText,
    shell: OptionalText,
    'working-directory': OptionalText,
    env: Texts,
  })
  .partial();
type Step = z.infer<typeof Step>;
const Service = z.object({
  image: z.string().max(200),
  env: Texts,
  ports: z.array(z.unknown()).catch([]),
});
const Job = z
  .object({
    name: OptionalText,
    'runs-on': z.unknown(),
    if: OptionalText,
    strategy: z.object({ matrix: Texts }).partial().catch({}),
    services: z.record(z.string(), z.unknown()).catch({}),
    defaults: Run,
    env: Texts,
    steps: z.array(Step.catch({})).catch([]),
  })
  .partial();
type Job = z.infer<typeof Job>;
const Workflow = z.object({ on: z.unknown(), env: Texts.optional(), defaults: Run.optional(), jobs: Texts });
const Action = z.object({ runs: z.object({ steps: z.array(Step.catch({})).catch([]) }) });

type Files = Readonly<Record<string, string>>;

/**
 * The job that runs the tests, from the texts of `workflowFiles`; null if no GitHub Actions job has recognizable
 * tests. Ignores jobs that run only by timer or manually, jobs on other systems than Linux, and hostile or damaged
 * files.
 */
export function ciJob(files: Files): CiJob | null {
  const paths = Object.keys(files).filter((path) => path.startsWith('.github/workflows/'));
  const found = workflowFiles(paths).flatMap((file) => jobsOf(file, files));
  const best = found.toSorted((a, b) => b.score - a.score)[0];
  return best?.job ?? null;
}

interface Scored {
  readonly job: CiJob;
  readonly score: number;
}

function jobsOf(file: string, files: Files): readonly Scored[] {
  const workflow = Workflow.safeParse(readPlainYaml(files[file] ?? '')).data;
  if (!workflow || !runsOnChanges(workflow.on)) return [];
  return Object.entries(workflow.jobs)
    .slice(0, MAX_JOBS)
    .flatMap(([id, value]) => {
      const job = Job.safeParse(value).data;
      if (!job || !runsOnLinux(job)) return [];
      const read = readJob(file, job, {
        files,
        env: textsOf(workflow.env),
        folder: workingDirectory(workflow.defaults),
      });
      return read === null
        ? []
        : [{ job: read, score: scoreOf(`${file} ${id} ${job.name ?? ''}`, file, read) }];
    });
}

const ON_CHANGES = /^(?:push|pull_request|pull_request_target|merge_group|workflow_call)$/;

function runsOnChanges(on: unknown): boolean {
  const names = typeof on === 'string' ? [on] : Array.isArray(on) ? on : Object.keys(Texts.parse(on ?? {}));
  return names.some((name) => typeof name === 'string' && ON_CHANGES.test(name));
}

function runsOnLinux(job: Job): boolean {
  const on = job['runs-on'];
  const text = typeof on === 'string' ? on : JSON.stringify(on ?? '');
  const key = /\$\{\{\s*matrix\.([\w-]+)/.exec(text)?.[1];
  const systems = key === undefined ? [text] : valuesOf(job, key);
  return systems.length === 0 || systems.some((system) => !/windows|macos/i.test(system));
}

const OTHER_JOBS =
  /e2e|integration|browser|lint|format|docs?\b|release|publish|deploy|nightly|bench|perf|windows|macos|coverage|canary|types|example|audit|codeql|docker|wasm|fuzz|downstream|minimum|oldest/i;

function scoreOf(names: string, file: string, { commands }: CiJob): number {
  const has = (part: CiCommand['part']): boolean => commands.some((command) => command.part === part);
  return (
    (RANKS.length - rankOf(file)) * 2 +
    (/test|unit|\bci\b/i.test(names.slice(file.length)) ? 3 : 0) -
    (OTHER_JOBS.test(names) ? 5 : 0) +
    (has('setup') ? 1 : 0)
  );
}

interface Around {
  readonly files: Files;
  readonly env: ReadonlyMap<string, string>;
  readonly folder: string;
}

/** Null for a job without tests. */
function readJob(file: string, job: Job, around: Around): CiJob | null {
  const env = new Map([...around.env, ...textsOf(job.env)]);
  const versions = new Map<string, readonly string[]>();
  const value = (expression: string): string | null => matrixValue(job, env, expression);
  const folder = workingDirectory(job.defaults) || around.folder;
  const commands: CiCommand[] = [];
  const ofTests: (readonly [string, string])[] = [...env];
  for (const step of stepsOf(job, around.files)) {
    if (!runsHere(step.if, job)) continue;
    for (const [name, range] of versionsOf(step, job))
      if ((versions.get(name) ?? []).length === 0) versions.set(name, range);
    if (step.run === undefined || /^(?:pwsh|powershell|cmd|python|node|ruby|perl)/.test(step.shell ?? ''))
      continue;
    const own = textsOf(step.env);
    const at = folderIn('', step['working-directory'] ?? (folder || '.'));
    if (at === null) continue;
    const found = scriptCommands(step.run, { folder: at, value, env: new Map([...env, ...own]), own });
    commands.push(...found);
    ofTests.push(...variablesOfTests(found, own));
  }
  const last = commands.findLastIndex(({ part }) => part === 'test');
  if (last < 0) return null;
  return {
    file,
    commands: commands.slice(0, last + 1),
    versions,
    services: servicesOf(job),
    env: new Map(ofTests),
  };
}

const variablesOfTests = (
  commands: readonly CiCommand[],
  own: ReadonlyMap<string, string>,
): readonly (readonly [string, string])[] => (commands.some(({ part }) => part === 'test') ? [...own] : []);

const MAX_SERVICES = 10;

const servicesOf = ({ services }: Job): readonly CiService[] =>
  Object.entries(services ?? {})
    .slice(0, MAX_SERVICES)
    .map(([name, value]) => {
      const { image = '', env = {}, ports = [] } = Service.safeParse(value).data ?? {};
      return { name, image, env: Object.fromEntries(textsOf(env)), ports: ports.map(String) };
    });

/** Steps of a job, with those of the repository's own actions written out. */
function stepsOf(job: Job, files: Files): readonly Step[] {
  const all = (job.steps ?? []).flatMap((step) => {
    const path = /^\.\/([\w./-]+?)\/?$/.exec(step.uses ?? '')?.[1];
    const text =
      path === undefined ? undefined : (files[`${path}/action.yml`] ?? files[`${path}/action.yaml`]);
    if (text === undefined) return [step];
    const action = Action.safeParse(readPlainYaml(text)).data;
    return runsHere(step.if, job) ? (action?.runs.steps ?? []) : [];
  });
  return all.slice(0, MAX_JOB_STEPS);
}

/** Keys of a matrix that name an operating system. */
const SYSTEM_KEY = /^(?:os|runner|runs-on|platform|system|image)$|\bos\b/i;

/**
 * Whether a step runs on Linux in a run without failures, for some job of the matrix; unknown conditions count as
 * false.
 */
function runsHere(condition: string | undefined, job: Job): boolean {
  const text = (condition ?? '').replace(/^\s*\$\{\{\s*|\s*\}\}\s*$/g, '').trim();
  if (/\|\|/.test(text)) return false;
  return text.split('&&').every((part) => {
    const one = part.trim();
    if (/^(?:|success\(\)|always\(\)|!\s*cancelled\(\)|!\s*failure\(\))$/.test(one)) return true;
    const [, key = '', sign, name] =
      /^(?:runner\.os|matrix\.([\w-]+))\s*([!=])=\s*'([\w.-]+)'$/.exec(one) ?? [];
    if (name === undefined) return false;
    const values = key === '' || SYSTEM_KEY.test(key) ? [] : linuxValuesOf(job, key);
    if (values.length > 0) return values.some((value) => (value === name) === (sign === '='));
    const linux = /linux|ubuntu/i.test(name);
    return sign === '!' ? !linux : linux;
  });
}

const textsOf = (values: Readonly<Record<string, unknown>> | undefined): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(values ?? {}).flatMap(([key, value]) =>
      typeof value === 'string' ? [[key, value] as const] : [],
    ),
  );

const workingDirectory = (defaults: z.infer<typeof Run> | undefined): string =>
  defaults?.run['working-directory'] ?? '';

const matrixTexts = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string').slice(0, 40);

/** All values that a key of the matrix takes, in the entries that count. */
function valuesOf(
  { strategy }: Job,
  key: string,
  counts = (_entry: Readonly<Record<string, unknown>>): boolean => true,
): readonly string[] {
  const { include, ...matrix } = strategy?.matrix ?? {};
  const entries = Array.isArray(include) ? include.map((one) => Texts.parse(one)).filter(counts) : [];
  return [...matrixTexts(matrix[key]), ...entries.flatMap((one) => matrixTexts(one[key]))];
}

const OTHER_SYSTEM = /windows|\bwin(?:\d\d)?\b|mac-?os|darwin|msvc|mingw|cygwin/i;

/** Values that a key of the matrix takes on Linux, as far as they and the entries that add them show. */
const linuxValuesOf = (job: Job, key: string): readonly string[] =>
  valuesOf(job, key, (entry) => !Object.values(entry).some((one) => OTHER_SYSTEM.test(String(one)))).filter(
    (value) => !OTHER_SYSTEM.test(value),
  );

/** Of a matrix, only values that are equal in all jobs or are not versions: the sandbox has its own versions. */
function matrixValue(job: Job, env: ReadonlyMap<string, string>, expression: string): string | null {
  const [, from, key = ''] = /^(matrix|env)\.([\w-]+)$/.exec(expression) ?? [];
  if (from === undefined) return null;
  if (from === 'env') return env.get(key) ?? null;
  const values = valuesOf(job, key);
  return values.length > 1 && values.every((value) => /^\D{0,8}\d/.test(value)) ? null : (values[0] ?? null);
}

/** The versions that a step of `actions/setup-…` installs; an empty list if only GitHub knows them. */
function versionsOf(
  { uses = '', with: inputs }: Step,
  job: Job,
): readonly (readonly [string, readonly string[]])[] {
  const name = /^[\w-]+\/setup-(node|python|java|go|ruby|php|dotnet|uv)@/.exec(uses)?.[1];
  if (name === undefined) return [];
  const language = name === 'uv' ? 'python' : name;
  const asked = textsOf(inputs).get(`${language}-version`) ?? '';
  const key = /^\$\{\{\s*matrix\.([\w-]+)\s*\}\}$/.exec(asked)?.[1];
  const versions = key === undefined ? asked.split(/\s*\n\s*/) : valuesOf(job, key);
  const plain = versions.filter((version) => /^[\w.*/-]{1,40}$/.test(version));
  return asked === '' ? [] : [[language, plain]];
}
