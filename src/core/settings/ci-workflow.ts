import { type CiCommand, enteredFolder, folderIn, scriptCommands, workspaceFrom } from './ci-commands.ts';
import { runsHere } from './ci-conditions.ts';
import { matrixValue, matrixValues } from './ci-matrix.ts';
import { type CiService, COMPOSE_FILE, servicesOf } from './ci-services.ts';
import {
  type CiFiles,
  calledJobs,
  ciFiles,
  installsOf,
  Job,
  matrixOf,
  type Step,
  stepsOf,
  Texts,
  textsOf,
  Workflow,
  withOutputs,
  workingDirectory,
} from './ci-steps.ts';
import { chainParts } from './command-kinds.ts';
import { packagesNamed } from './package-selection.ts';
import { SAMPLE_FOLDERS } from './repository-recipe.ts';

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
  /** Only if several jobs are read as one: the most likely of them. */
  readonly alone?: CiJob;
}

const MAX_WORKFLOWS = 12;
const MAX_ACTIONS = 6;
const MAX_JOBS = 40;
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

/**
 * Paths of a repository's workflows, and of what they may use: its own actions, and files of docker compose. Bounded.
 */
export function workflowFiles(paths: readonly string[]): readonly string[] {
  const workflows = paths.filter((path) => /^\.github\/workflows\/[^/]+\.ya?ml$/.test(path));
  const actions = paths.filter((path) => /^\.github\/(?:[\w.-]+\/){1,2}action\.ya?ml$/.test(path));
  const ranked = workflows.toSorted((a, b) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1));
  const compose = workflows.length === 0 ? [] : paths.filter((path) => COMPOSE_FILE.test(path));
  // A step that names no file starts the one at the top.
  const nearest = compose.toSorted().toSorted((a, b) => a.split('/').length - b.split('/').length);
  const used = [actions.toSorted(), nearest].flatMap((some) => some.slice(0, MAX_ACTIONS));
  return [...ranked.slice(0, MAX_WORKFLOWS), ...used];
}

type Files = Readonly<Record<string, string>>;

/**
 * The job that runs the tests, from the texts of `workflowFiles`. If no GitHub Actions job has recognizable tests, one
 * that sets up languages or services, without commands; else null. Ignores jobs that run only by timer or manually,
 * jobs on other systems than Linux, and hostile or damaged files.
 */
export function ciJob(texts: Files): CiJob | null {
  const paths = Object.keys(texts).filter((path) => path.startsWith('.github/workflows/'));
  const files = ciFiles(texts);
  const found = workflowFiles(paths).flatMap((file) => jobsOf(file, files));
  const tested = found.filter(({ job }) => job.commands.length > 0);
  const [best, ...others] = (tested.length > 0 ? tested : found).toSorted((a, b) => b.score - a.score);
  return best === undefined ? null : withOtherParts(best, others);
}

/** Maximum jobs that are read as one. */
const MAX_PARTS = 6;
/** A job that is so much less likely is for something else: `OTHER_JOBS`. */
const LESS_LIKELY = 4;

/** With the jobs that test other folders, also of other workflows: each of them tests a part of the repository. */
function withOtherParts(best: Scored, others: readonly Scored[]): CiJob {
  const known = new Set(testFolders(best.job));
  const parts = [best.job];
  for (const { job, score } of others) {
    const folders = testFolders(job);
    const isPart = score > best.score - LESS_LIKELY && !known.has('');
    if (!isPart || parts.length === MAX_PARTS || folders.length === 0) continue;
    if (folders.some((folder) => folder === '' || known.has(folder))) continue;
    for (const folder of folders) known.add(folder);
    parts.push(job);
  }
  const versions = new Map<string, readonly string[]>();
  for (const [name, list] of parts.flatMap((part) => [...part.versions]))
    versions.set(name, [...new Set([...(versions.get(name) ?? []), ...list])]);
  const services = parts.flatMap((part) => part.services);
  return {
    file: best.job.file,
    commands: parts.flatMap(({ commands }) => commands),
    versions,
    services: services.filter(({ name }, at) => services.findIndex((one) => one.name === name) === at),
    env: new Map(parts.toReversed().flatMap(({ env }) => [...env])),
    ...(parts.length > 1 ? { alone: best.job } : {}),
  };
}

const testFolders = ({ commands }: CiJob): readonly string[] =>
  commands.flatMap(({ part, command }) => (part === 'test' ? [enteredFolder(command)] : []));

interface Scored {
  readonly job: CiJob;
  readonly score: number;
}

function jobsOf(file: string, files: CiFiles): readonly Scored[] {
  const workflow = Workflow.safeParse(files.read(file)).data;
  return workflow && runsOnChanges(workflow.on) ? jobsIn({ file, workflow }, files) : [];
}

/** `caller`: names of the job that calls the workflow. */
function jobsIn(
  { file, workflow }: { readonly file: string; readonly workflow: Workflow },
  files: CiFiles,
  caller = '',
): readonly Scored[] {
  return Object.entries(workflow.jobs)
    .slice(0, MAX_JOBS)
    .flatMap(([id, value]) => {
      const job = Job.safeParse(value).data;
      if (!job) return [];
      const names = `${caller} ${id} ${job.name ?? ''}`;
      const called = caller === '' ? calledJobs(job, files) : null;
      if (called) return jobsIn(called, files, names);
      if (!runsOnLinux(job)) return [];
      const read = readJob(file, job, {
        files,
        env: textsOf(workflow.env),
        folder: workingDirectory(workflow.defaults),
      });
      return read === null ? [] : [{ job: read, score: scoreOf(id, names, read) }];
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
  const key = /\$\{\{\s*matrix\.([\w-]+(?:\.[\w-]+)?)/.exec(text)?.[1];
  // `matrix.os || 'ubuntu-latest'`: the entries that name none are on the system behind the operator.
  const usual = key === undefined || text.includes('||') ? [text] : [];
  const systems = [...usual, ...(key === undefined ? [] : matrixValues(matrixOf(job), key))];
  return systems.length === 0 || systems.some((system) => !/windows|macos/i.test(system));
}

const OTHER_JOBS =
  /e2e|(?<!continuous[-_ ]?)integration|browser|dist\b|lint|format|docs?\b|release|publish|deploy|nightly|bench|perf|windows|macos|coverage|canary|types|example|audit|codeql|docker|wasm|fuzz|downstream|minimum|oldest/i;

/** `names`: of the job, and of one that calls its workflow. */
function scoreOf(id: string, names: string, job: CiJob): number {
  const { file, commands, versions } = job;
  const has = (part: CiCommand['part']): boolean => commands.some((command) => command.part === part);
  const named = names.replace(/\$\{\{.*?\}\}/g, '');
  return (
    (RANKS.length - rankOf(file)) * 2 +
    (/test|unit|\bci\b/i.test(named) ? 3 : 0) -
    (OTHER_JOBS.test(`${file} ${named}`) ? 5 : 0) +
    (has('setup') ? 1 : 0) +
    // Of equal ones: the job with all tests, the one that is named so, and the one with several versions.
    (testsOnlyParts(job) ? 0 : 0.5) +
    (/^(?:unit[-_]?)?tests?$/i.test(id) ? 0.25 : 0) +
    ([...versions.values()].some((list) => list.length > 1) ? 0.2 : 0)
  );
}

/** Whether none of a job's tests is more than a script such as `test:node`. */
export const testsOnlyParts = ({ commands }: CiJob): boolean =>
  commands.every(({ part, command }) => part !== 'test' || PART_OF_TESTS.test(command));

const PART_OF_TESTS = /(?:^|\s)(?:tests?|spec|unit)[:_-]\w/;

/** Whether all of a job's tests are those of one package: other jobs, often of other workflows, test the others. */
export function testsOnePackage({ commands }: CiJob): boolean {
  const packages = commands.flatMap(({ part, command }) => {
    if (part !== 'test') return [];
    const named = (chainParts(command) ?? []).flatMap(packagesNamed);
    return named.length > 0 ? named : [enteredFolder(command)];
  });
  // A pattern may stand for several.
  return new Set(packages).size === 1 && /^[\w@./-]+$/.test(packages[0] ?? '');
}

interface Around {
  readonly files: CiFiles;
  readonly env: ReadonlyMap<string, string>;
  readonly folder: string;
}

/** Null for a job that neither tests nor sets up anything. */
function readJob(file: string, job: Job, around: Around): CiJob | null {
  const matrix = matrixOf(job);
  const steps = stepsOf(job, around.files).map((step) => ({ step, runs: runsHere(step.if, matrix) }));
  const certain = steps.filter(({ runs }) => runs === true).map(({ step }) => step);
  const read = readSteps(certain, job, around);
  const services = servicesOf(job, certain, around.files);
  if (read.commands.length > 0) return { file, ...read, services };
  // Of tests whose conditions only GitHub knows, the first, with what has the same condition.
  const open = steps.flatMap(({ step, runs }) => (runs === null ? [step] : []));
  const condition = open.find((step) => readSteps([step], job, around).commands.length > 0)?.if;
  const chosen = steps.flatMap(({ step, runs }) =>
    runs || (runs === null && step.if === condition) ? [step] : [],
  );
  const other = condition === undefined ? read : readSteps(chosen, job, around);
  const isUseful = other.commands.length > 0 || services.length > 0 || other.versions.size > 0;
  return isUseful ? { file, ...other, services } : null;
}

/** No commands if there are no tests among them. */
function readSteps(
  steps: readonly Step[],
  job: Job,
  around: Around,
): Pick<CiJob, 'commands' | 'versions' | 'env'> {
  const env = new Map([...around.env, ...textsOf(job.env)]);
  const versions = new Map<string, readonly string[]>();
  const value = (expression: string): string | null => expressionValue(job, env, expression);
  const folder = workingDirectory(job.defaults) || around.folder;
  const commands: CiCommand[] = [];
  const ofTests: (readonly [string, string])[] = [...env];
  for (const step of withOutputs(steps)) {
    for (const [name, range] of versionsOf(step, job))
      if ((versions.get(name) ?? []).length === 0) versions.set(name, range);
    if (step.run === undefined || /^(?:pwsh|powershell|cmd|python|node|ruby|perl)/.test(step.shell ?? ''))
      continue;
    const own = textsOf(step.env);
    const at = folderIn('', workspaceFrom('', step['working-directory'] ?? (folder || '.')));
    around.files.left.chars -= step.run.length;
    if (at === null || around.files.left.chars < 0) continue;
    const found = scriptCommands(step.run, { folder: at, value, env: new Map([...env, ...own]), own });
    // Samples are tested with the project, or say nothing about it.
    commands.push(...found.filter(({ part, command }) => part !== 'test' || !isInSamples(command)));
    ofTests.push(...variablesOfTests(found, own));
  }
  const last = commands.findLastIndex(({ part }) => part === 'test');
  const used = commands.slice(0, last + 1);
  const isAtTop = used.some(({ part, command }) => part === 'test' && enteredFolder(command) === '');
  const installs = isAtTop ? steps.flatMap(installsOf) : [];
  return { commands: [...installs, ...used], versions, env: new Map(ofTests) };
}

const isInSamples = (command: string): boolean => SAMPLE_FOLDERS.test(`${enteredFolder(command)}/`);

const variablesOfTests = (
  commands: readonly CiCommand[],
  own: ReadonlyMap<string, string>,
): readonly (readonly [string, string])[] => (commands.some(({ part }) => part === 'test') ? [...own] : []);

function expressionValue(job: Job, env: ReadonlyMap<string, string>, expression: string): string | null {
  const [, condition, then, otherwise] = /^(.+?)\s*&&\s*'([^']*)'\s*\|\|\s*'([^']*)'$/.exec(expression) ?? [];
  if (condition !== undefined) return (runsHere(condition, matrixOf(job)) ? then : otherwise) ?? null;
  const [, from, key = ''] = /^(matrix|env)\.([\w-]+(?:\.[\w-]+)?)$/.exec(expression) ?? [];
  if (from === undefined) return null;
  return from === 'env' ? (env.get(key) ?? null) : matrixValue(matrixOf(job), key);
}

type ToolVersions = readonly [tool: string, versions: readonly string[]];
/** The versions that a step of `actions/setup-…` installs; an empty list if only GitHub knows them. */
function versionsOf({ uses = '', with: inputs }: Step, job: Job): readonly ToolVersions[] {
  const name = /^(?:[\w-]+\/setup-(?=(?:node|python|java|go|ruby|php|dotnet|uv)@)|(?=pnpm\/))(\w+)/.exec(
    uses,
  )?.[1];
  if (name === undefined) return [];
  const language = name === 'uv' ? 'python' : name;
  const asked = textsOf(inputs).get(name === 'pnpm' ? 'version' : `${language}-version`) ?? '';
  const key = /^\$\{\{\s*matrix\.([\w-]+(?:\.[\w-]+)?)\s*\}\}$/.exec(asked)?.[1];
  const versions = key === undefined ? asked.split(/\s*\n\s*/) : matrixValues(matrixOf(job), key);
  const plain = versions.filter((version) => /^[\w.*/-]{1,40}$/.test(version));
  return asked === '' ? [] : [[language, plain]];
}
