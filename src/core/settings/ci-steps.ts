import { z } from 'zod';
import type { CiCommand } from './ci-commands.ts';
import { runsHere } from './ci-conditions.ts';
import type { CiMatrix } from './ci-matrix.ts';
import { readPlainYaml } from './toml-and-yaml.ts';

/** Keeps only the string keys of a mapping. */
export const Texts = z.record(z.string(), z.unknown()).catch({});
const OptionalText = z.string().optional().catch(undefined);
const Run = z
  .object({ run: z.object({ 'working-directory': OptionalText, shell: OptionalText }).catch({}) })
  .catch({ run: {} });
const Step = z
  .object({
    id: OptionalText,
    uses: OptionalText,
    run: OptionalText,
    with: Texts,
    if: OptionalText,
    shell: OptionalText,
    'working-directory': OptionalText,
    env: Texts,
  })
  .partial();
export type Step = z.infer<typeof Step>;
export const Service = z.object({
  image: z.string().max(200),
  env: Texts,
  ports: z.array(z.unknown()).catch([]),
});
export const Job = z
  .object({
    name: OptionalText,
    uses: OptionalText,
    with: Texts,
    'runs-on': z.unknown(),
    strategy: z.object({ matrix: Texts }).partial().catch({}),
    services: z.record(z.string(), z.unknown()).catch({}),
    defaults: Run,
    env: Texts,
    steps: z.array(Step.catch({})).catch([]),
  })
  .partial();
export type Job = z.infer<typeof Job>;
export const Workflow = z.object({
  on: z.unknown(),
  env: Texts.optional(),
  defaults: Run.optional(),
  jobs: Texts,
});
export type Workflow = z.infer<typeof Workflow>;
const Action = z.object({
  inputs: Texts.optional(),
  runs: z.object({ steps: z.array(Step.catch({})).catch([]) }),
});
const Called = z.object({ on: z.object({ workflow_call: z.object({ inputs: Texts }) }) });
const DeclaredInput = z.object({ default: z.string().catch('') }).catch({ default: '' });

const MAX_JOB_STEPS = 60;
/** Maximum times that actions and workflows of the repository are written out. */
const MAX_USES = 200;
/** Maximum characters of scripts that are read, in all: an action may be used many times. */
const MAX_READ_CHARS = 300_000;

/** The texts of workflows and actions. */
export interface CiFiles {
  /** The parsed file; null for none. */
  readonly read: (path: string) => unknown;
  /** Counts down. */
  readonly left: { uses: number; chars: number };
}

/** Each file is parsed at most once: many jobs may use the same action. */
export function ciFiles(files: Readonly<Record<string, string>>): CiFiles {
  const parsed = new Map<string, unknown>();
  return {
    left: { uses: MAX_USES, chars: MAX_READ_CHARS },
    read(path) {
      if (!parsed.has(path))
        parsed.set(path, Object.hasOwn(files, path) ? readPlainYaml(files[path] ?? '') : null);
      return parsed.get(path);
    },
  };
}

export const matrixOf = ({ strategy }: Job): CiMatrix => strategy?.matrix ?? {};

export const textsOf = (values: Readonly<Record<string, unknown>> | undefined): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(values ?? {}).flatMap(([key, value]) =>
      typeof value === 'string' ? [[key, value] as const] : [],
    ),
  );

export const workingDirectory = (defaults: z.infer<typeof Run> | undefined): string =>
  defaults?.run['working-directory'] ?? '';

/** Steps of a job, with those of the repository's own actions written out. */
export function stepsOf(job: Job, files: CiFiles): readonly Step[] {
  const all: Step[] = [];
  for (const step of job.steps ?? []) {
    if (all.length >= MAX_JOB_STEPS) break;
    const path = /^\.\/([\w./-]+?)\/?$/.exec(step.uses ?? '')?.[1];
    const text =
      path === undefined ? null : (files.read(`${path}/action.yml`) ?? files.read(`${path}/action.yaml`));
    if (text === null) all.push(step);
    else if (runsHere(step.if, matrixOf(job)) !== false && files.left.uses-- > 0) {
      const { inputs, runs } = Action.safeParse(text).data ?? { runs: { steps: [] } };
      const filled = z.array(Step.catch({})).parse(withInputs(runs.steps, inputsOf(inputs, step.with)));
      all.push(...filled.map((one) => ({ ...one, if: bothConditions(step.if, one.if) })));
    }
  }
  return all.slice(0, MAX_JOB_STEPS);
}

/** A line that writes an output. */
const OUTPUT =
  /^[ \t]*echo (["']?)([\w-]+)=([^"'`\n]{1,200})\1 >> ?"?\$(?:GITHUB_OUTPUT\b|\{GITHUB_OUTPUT\})"?[ \t]*$/gm;

/** Steps with the outputs of earlier ones filled in, where a script of these writes them as they are. */
export function withOutputs(steps: readonly Step[]): readonly Step[] {
  const outputs = new Map<string, string>();
  const filled = (text: string): string =>
    text.replace(
      /\$\{\{\s*steps\.([\w-]+\.outputs\.[\w-]+)\s*\}\}/g,
      (all, name: string) => outputs.get(name) ?? all,
    );
  return steps.map((step) => {
    const { id, run, 'working-directory': folder } = step;
    const own = run === undefined ? {} : { run: filled(run) };
    const written =
      id === undefined || run === undefined ? [] : run.slice(0, MAX_FILLED_CHARS).matchAll(OUTPUT);
    for (const [, , name = '', value = ''] of written)
      if (!value.includes('$(')) outputs.set(`${id}.outputs.${name}`, value);
    return { ...step, ...own, ...(folder === undefined ? {} : { 'working-directory': filled(folder) }) };
  });
}

const bothConditions = (...conditions: readonly (string | undefined)[]): string =>
  conditions
    .map((one) => (one ?? '').replace(/^\s*\$\{\{|\}\}\s*$/g, '').trim())
    .filter((one) => one !== '')
    .map((one, _, all) => (all.length > 1 ? `(${one})` : one))
    .join(' && ');

/** The jobs of a workflow of the repository that a job calls, with its inputs and matrix; null if it calls none. */
export function calledJobs(
  job: Job,
  files: CiFiles,
): { readonly file: string; readonly workflow: Workflow } | null {
  const file = /^\.\/(\.github\/workflows\/[\w.-]+\.ya?ml)$/.exec(job.uses ?? '')?.[1];
  const text = file === undefined ? null : files.read(file);
  if (file === undefined || text === null || files.left.uses-- <= 0) return null;
  const declared = Called.safeParse(text).data?.on.workflow_call.inputs;
  const filled = Workflow.safeParse(withInputs(text, inputsOf(declared, job.with))).data;
  if (filled === undefined) return null;
  const jobs = Object.entries(filled.jobs).map(([id, value]) => {
    const { strategy, ...rest } = Texts.parse(value);
    const own = matrixOf({ strategy: Job.safeParse({ strategy }).data?.strategy });
    return [id, { ...rest, strategy: { matrix: { ...matrixOf(job), ...own } } }];
  });
  return { file, workflow: { ...filled, jobs: Object.fromEntries(jobs) } };
}

type Inputs = ReadonlyMap<string, string>;

/** What is given, else the default; without either, an input is empty. */
const inputsOf = (
  declared: Readonly<Record<string, unknown>> = {},
  given: Readonly<Record<string, unknown>> = {},
): Inputs =>
  new Map([
    ...Object.entries(declared).map(([name, input]) => [name, DeclaredInput.parse(input).default] as const),
    ...textsOf(given),
  ]);

/** Maximum characters of an input, and of a text that inputs are filled in. */
const MAX_INPUT_CHARS = 500;
const MAX_FILLED_CHARS = 8_000;

/** Fills in `inputs.name` in all texts of a parsed file. */
function withInputs(value: unknown, inputs: Inputs, key = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => withInputs(one, inputs));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, withInputs(one, inputs, name)]),
    );
  if (typeof value !== 'string' || value.length > MAX_FILLED_CHARS) return value;
  const pattern = key === 'if' ? /\binputs\.([\w-]+)/g : /\$\{\{\s*inputs\.([\w-]+)\s*\}\}/g;
  return value.replace(pattern, (all, name: string) => {
    const input = inputs.get(name);
    if (input === undefined || input.length > MAX_INPUT_CHARS) return all;
    if (key !== 'if') return input;
    const expression = /^\$\{\{([^{}]*)\}\}$/.exec(input)?.[1];
    return expression === undefined ? (/['{}]/.test(input) ? all : `'${input}'`) : `(${expression.trim()})`;
  });
}

/** Actions that install what the project at the top requires. */
export function installsOf({ uses = '', with: inputs }: Step): readonly CiCommand[] {
  const given = textsOf(inputs);
  const of = (...commands: readonly string[]) =>
    given.has('working-directory') ? [] : commands.map((command) => ({ part: 'setup' as const, command }));
  if (/^ramsey\/composer-install@/.test(uses)) return of('composer install --no-interaction --no-progress');
  const isCached = inputs?.['bundler-cache'] === true || given.get('bundler-cache') === 'true';
  if (!/^ruby\/setup-ruby@/.test(uses) || !isCached) return [];
  return of('bundle config set --local path vendor/bundle', 'bundle install');
}
