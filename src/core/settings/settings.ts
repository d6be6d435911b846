import { z } from 'zod';
import { Critics } from './critics.ts';
import { EvaluatorNames, Weights, WHEN } from './evaluator.ts';

/** Wire protocols that the gateway speaks. */
export const MODEL_PROTOCOLS = ['anthropic', 'openai-chat', 'openai-responses', 'gemini'] as const;

export type ModelProtocol = (typeof MODEL_PROTOCOLS)[number];

/** A program and its arguments, as the sandbox sees them. */
export const Argv = z
  .tuple([z.string().min(1).max(1000)], z.string().max(1000))
  .refine((argv) => argv.length <= 50, {
    error: 'at most 50 words',
  })
  .refine((argv) => !argv.some((word) => word.includes('\0')), { error: 'no word may hold a NUL' });

/** Seconds; timers end at 24 days. */
const MAX_DURATION_SECONDS = 168 * 3600;

const DURATION = 'write a whole number and a unit: 90s, 30m or 2h';

/** `90s`, `30m` or `2h`, in seconds. */
const seconds = () =>
  z
    .string(DURATION)
    .regex(/^[1-9]\d{0,4}(s|m|h)$/, DURATION)
    .transform(
      (text) => Number.parseInt(text, 10) * { s: 1, m: 60, h: 3600 }[text.slice(-1) as 's' | 'm' | 'h'],
    )
    .refine((length) => length <= MAX_DURATION_SECONDS, { error: 'at most a week: 168h' });

/** The same with a default. */
export const duration = (fallback: string) => seconds().prefault(fallback);

export const CoderSetting = z.strictObject(
  {
    agent: z.string().min(1).max(60).describe('Name of a coder. `runoff agents` lists them.'),
    model: z
      .string()
      .regex(/^[a-z0-9][\w.:-]{0,80}(?:\/[\x21-\x7e]{1,150})?$/i, 'write provider/model')
      .optional()
      .describe(
        '`provider/model`, or the model alone where one provider offers it. Default: the default models of the providers whose keys are set, in turn.',
      ),
    prompt: z.string().min(1).optional().describe('Prompt variant. Default: the variants in turn.'),
    argv: Argv.optional().describe(
      'The program, at its path inside the sandbox, and its arguments. Only with `agent: command` or `agent: acp`.',
    ),
  },
  {
    error: ({ code, input }) =>
      code === 'invalid_type' && typeof input === 'string'
        ? 'write the name after `agent:`, as in `- agent: builtin`'
        : undefined,
  },
);

export type CoderSetting = z.infer<typeof CoderSetting>;

/** `.github/auto-dev.yml`. Every key has a default; unknown keys are errors with a suggestion. */
export const Settings = z.strictObject({
  coders: z
    .array(CoderSetting, {
      error: ({ code, input }) =>
        code === 'invalid_type' && typeof input === 'string'
          ? 'write a list, as in `coders: [{ agent: builtin }]`, or `coders: auto` in small letters'
          : undefined,
    })
    .min(1)
    .max(12)
    .default([{ agent: 'builtin' }])
    .describe(
      'Contestants. If there are fewer than `candidates`, they repeat with the next prompt variant. `auto`: chosen for each run from earlier ones in this repository, among the agents that are installed and the models that the operator allows (docs/learning.md); in a list, `{ agent: auto }` fills the places that the others leave.',
    ),
  candidates: z.number().int().min(1).max(12).default(3).describe('Number of candidates.'),
  timeout: z
    .strictObject({
      candidate: duration('30m').describe('Time limit of one coder, from its start.'),
      silence: duration('5m').describe('A coder is stopped this long after its last line of output.'),
      check: duration('20m').describe(
        'Time limit of one build or test run. Tests of a candidate may take three times as long as on the base commit if that is more, because others run beside them; if all tests pass on the base commit, ten times as long at most, but at least 5 minutes. Tests that neither print nor compute for a quarter of their limit, but at least 2 minutes, are stopped.',
      ),
      examine: seconds()
        .optional()
        .describe(
          'Time limit of examining all candidates. Build and tests of each candidate are never cut; repeated runs, the comparison of behaviour, tests of other candidates and written tests are left out when it is over, and the comparison says so. The time for which tests of a candidate hang does not count. Default: the longer of 5m and two and a half builds and runs of the test suite for each candidate.',
        ),
      extendWhileProgressing: z
        .boolean()
        .default(true)
        .describe(
          'A coder that still makes progress when its time is up gets more, up to 1.5 times `timeout.candidate`.',
        ),
    })
    .prefault({}),
  budget: z
    .strictObject({
      run: z
        .number()
        .positive()
        .max(1000)
        .default(5)
        .describe('US dollars for the whole run, including the planner. The gateway enforces it.'),
      candidate: z.number().positive().max(1000).default(2).describe('US dollars for one coder.'),
      tokens: z
        .number()
        .int()
        .positive()
        .max(1e9)
        .optional()
        .describe(
          'Input and output tokens of one coder whose model has no known price, up to MAX_TOKENS_CANDIDATE. Default: none; such a model is rejected.',
        ),
    })
    .prefault({}),
  checks: z
    .strictObject({
      setup: z
        .string()
        .optional()
        .describe(
          'Command that is executed once on the base checkout, before any candidate, e.g. to install packages. Default: detected; `""`: none.',
        ),
      submodules: z
        .boolean()
        .default(true)
        .describe(
          "Whether the base commit's submodules are fetched, without a login, from the repository's own server and hosts of `network.allow` (docs/preparing.md).",
        ),
      candidateSetup: z
        .boolean()
        .default(false)
        .describe(
          'Whether a candidate that changes manifests or lock files is set up anew, with its packages, before its build and tests (docs/preparing.md). Its install scripts then reach package registries. `false`: it is tested with the packages of the base commit.',
        ),
      build: z.string().optional().describe('Build command. Default: detected; `""`: none.'),
      types: z
        .string()
        .optional()
        .describe(
          'Command that checks types (docs/tests.md). A candidate with findings that the base lacks fails the gate `types`. Default: detected; `""`: none.',
        ),
      test: z
        .string()
        .optional()
        .describe(
          'Test command, split into steps (docs/tests.md). Default: detected; `""`: none. Without one nothing is tested, and no result is called clear.',
        ),
      packages: z
        .array(
          z.string().regex(/^[\w@.][\w@./-]{0,199}$/, 'write the folder of a package, such as packages/core'),
        )
        .min(1)
        .max(200)
        .optional()
        .describe(
          'Folders of the packages of a workspace whose tests are run, and no others (docs/tests.md). Default: those that candidates change and those that depend on them, then the others as far as `timeout.examine` allows.',
        ),
    })
    .prefault({}),
  debate: z
    .enum(WHEN)
    .default('auto')
    .describe(
      'Critics debate the brief before coders start: `always`, `never`, or `auto`: if the planner has a blocking question or sees a high risk.',
    ),
  critics: Critics.prefault({}),
  approval: z
    .enum(['never', 'plan'])
    .default('never')
    .describe('`plan`: coders start after a person with write access has approved the plan.'),
  answer: z
    .strictObject({
      ask: z
        .boolean()
        .default(true)
        .describe(
          '`false`: blocking questions are not asked; the run continues with their default assumptions.',
        ),
      within: duration('72h').describe('How long a run waits for an answer or an approval.'),
      otherwise: z
        .enum(['stop', 'assume'])
        .default('stop')
        .describe(
          'Afterwards: `stop` ends the run; `assume` continues with the default assumption of the question. A plan that needs approval always stops.',
        ),
    })
    .prefault({}),
  review: z
    .enum(WHEN)
    .default('auto')
    .describe(
      "Critics look for defects in the winner's diff: `always`, `never`, or `auto`: if the brief states a high risk or was debated. Their claims are executed and can change the winner.",
    ),
  evaluator: EvaluatorNames.default(['evidence', 'model']).describe(
    'Strategies in the order in which they decide: `evidence` (what was executed), `model` (blind judges, every pair), `tournament` (blind judges, knockout), `vote` (one vote per model family), `score` (patch score), `metrics` (weights), `reviewer` (looks for defects in the leading candidates; its tests must be confirmed by execution), `human` (a person picks). With `model` or `tournament`, a model also writes tests if execution leaves doubt. Gates come before all strategies.',
  ),
  weights: Weights.prefault({}),
  blind: z
    .boolean()
    .default(false)
    .describe(
      '`true`: comments, pages, API and command line show candidates by letter alone until a person has picked, or the run has ended and leaves no choice open: no agent, model, prompt, tokens or cost of a candidate (docs/pages.md). Best with `human` in `evaluator`.',
    ),
  adaptive: z
    .strictObject({
      field: z
        .enum(['all', 'sequential'])
        .default('all')
        .describe(
          '`all`: all candidates start at once. `sequential`: one or two start, and one more after each examination until the result is clear, or another candidate is not worth its cost (docs/selection.md). Cheaper, but slower.',
        ),
      stopEarly: z
        .boolean()
        .default(false)
        .describe(
          '`true`: if the first coders to finish pass every gate, break nothing and agree, the others are stopped. They must be of different model families, if the run has several. This saves money but gives up comparisons: models also agree when they are wrong.',
        ),
      oneMore: z
        .boolean()
        .default(true)
        .describe(
          '`true`: if all candidates fail for different reasons, one more contestant starts, within `budget.run` and MAX_CANDIDATES.',
        ),
      repair: z
        .boolean()
        .default(true)
        .describe(
          '`true`: if every candidate fails a gate or breaks a test, the best two are told what failed and get another turn on their patch, within `budget.run`.',
        ),
    })
    .prefault({}),
  synthesis: z
    .boolean()
    .default(false)
    .describe(
      '`true`: if two candidates each fix what the other misses, a coder merges them into another candidate, which is examined and judged like any other.',
    ),
  protect: z
    .array(z.string().min(1).max(200))
    .max(100)
    .default(['.github/**', '**/*.lock'])
    .describe('Globs of files that no candidate may change.'),
  network: z
    .strictObject({
      allow: z
        .array(z.string().regex(/^[a-z0-9.-]{1,253}(:\d{1,5})?$/, 'write an exact host name, or host:port'))
        .max(50)
        .default([])
        .describe(
          "Hosts (`host` or `host:port`, default port 443) that `checks.setup` may reach, within the operator's NETWORK_ALLOW.",
        ),
      checks: z
        .boolean()
        .default(false)
        .describe(
          '`true`: build and tests may reach these hosts too. They execute code of candidates, which could send your code there. Coders never have network access.',
        ),
    })
    .prefault({}),
  instructions: z
    .enum(['read', 'ignore'])
    .default('read')
    .describe(
      '`read`: every coder gets AGENTS.md or CLAUDE.md of the base commit (on GitHub: of the default branch) as context.',
    ),
  ci: z
    .enum(['hold', 'run'])
    .default('hold')
    .describe(
      "`hold`: the pushed commit asks GitHub's own CI not to start until a person allows it; `run`: CI starts at once.",
    ),
});
export type Settings = z.infer<typeof Settings>;
