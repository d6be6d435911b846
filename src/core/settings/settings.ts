import { z } from 'zod';
import { suggest } from './suggest.ts';

/** Wire protocols that the gateway speaks. */
export const MODEL_PROTOCOLS = ['anthropic', 'openai-chat', 'openai-responses', 'gemini'] as const;

export type ModelProtocol = (typeof MODEL_PROTOCOLS)[number];

/** Seconds; timers end at 24 days. */
const LONGEST = 168 * 3600;

/** `90s`, `30m`, `2h` → seconds. */
export const duration = (fallback: string) =>
  z
    .string()
    .regex(/^[1-9]\d{0,4}(s|m|h)$/, 'write a whole number and a unit: 90s, 30m or 2h')
    .transform(
      (text) => Number.parseInt(text, 10) * { s: 1, m: 60, h: 3600 }[text.slice(-1) as 's' | 'm' | 'h'],
    )
    .refine((seconds) => seconds <= LONGEST, { error: 'at most a week: 168h' })
    .prefault(fallback);

export const Weights = z
  .strictObject({
    tests: z.number().min(0).max(100).default(50).describe('Share of peer tests passed.'),
    simplicity: z
      .number()
      .min(0)
      .max(100)
      .default(30)
      .describe("Smallest production patch among the survivors, divided by this one's."),
    speed: z
      .number()
      .min(0)
      .max(100)
      .default(20)
      .describe("Fastest survivor's coder time, divided by this one's."),
  })
  .refine((weights) => weights.tests + weights.simplicity + weights.speed > 0, {
    message: 'at least one weight must be above 0',
  });
export type Weights = z.infer<typeof Weights>;

/** A program and its arguments, as the sandbox sees them. */
export const Argv = z
  .tuple([z.string().min(1).max(1000)], z.string().max(1000))
  .refine((argv) => argv.length <= 50, {
    error: 'at most 50 words',
  })
  .refine((argv) => !argv.some((word) => word.includes('\0')), { error: 'no word may hold a NUL' });

export const CoderSetting = z.strictObject({
  agent: z.string().min(1).max(60).describe('Name of a coder; `runoff agents` lists them.'),
  model: z
    .string()
    .regex(/^[a-z0-9][\w.-]{0,40}\/[\x21-\x7e]{1,150}$/i, 'write provider/model')
    .optional()
    .describe('`provider/model`; absent: the default models of the keys that are set, in turn.'),
  prompt: z.string().min(1).optional().describe('Prompt variant; absent: variants are taken in turn.'),
  argv: Argv.optional().describe(
    'Only with `agent: command` or `agent: acp`: the program to run, as the sandbox sees it, and its arguments.',
  ),
});

export type CoderSetting = z.infer<typeof CoderSetting>;

/** Five personas are ours; an operator adds more by adding a file. */
const PersonaName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,40}$/, 'name personas with small letters, digits and hyphens');

/** Shares and counts are our defaults, tune on dev data. */
const Critics = z.strictObject({
  agents: z
    .array(PersonaName)
    .min(1)
    .max(8)
    .refine((names) => new Set(names).size === names.length, { error: 'name each persona once' })
    .default(['qa', 'product', 'security'])
    .describe(
      'Who debates: `security`, `oncall`, `product`, `performance`, `qa`, or personas that the operator added.',
    ),
  maxRounds: z.number().int().min(1).max(10).default(5).describe('Rounds of one debate at most.'),
  requiredForConsensus: z
    .number()
    .int()
    .min(1)
    .max(8)
    .optional()
    .describe('Critics that must approve; absent: all of them.'),
  focusAreas: z
    .array(z.string().min(1).max(100))
    .max(8)
    .default([])
    .describe('What critics shall look at first, such as `data migration`.'),
  assign: z
    .enum(['fixed', 'rotating'])
    .default('fixed')
    .describe('`rotating`: in each round a critic speaks through the next model.'),
  share: z
    .number()
    .min(0.01)
    .max(0.5)
    .default(0.15)
    .describe('The most of `budget.run` that a debate may cost.'),
});

/** What can put candidates in order. A list composes them: each decides among those whom the ones before it leave undecided. */
export const EVALUATORS = [
  'evidence',
  'model',
  'vote',
  'score',
  'metrics',
  'reviewer',
  'human',
  'tournament',
] as const;
export type Evaluator = (typeof EVALUATORS)[number];

const EvaluatorName = z.enum(EVALUATORS, { error: ({ input }) => noSuchEvaluator(input) });

function noSuchEvaluator(written: unknown): string {
  const meant = typeof written === 'string' ? suggest(written.slice(0, 60), EVALUATORS) : null;
  const hint = meant ? `did you mean ${meant}?` : `known: ${EVALUATORS.join(', ')}`;
  return `there is no strategy ${shown(written)}; ${hint}`;
}

const shown = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value.slice(0, 60)) : 'of this kind';

/** `.github/auto-dev.yml`. Every key has a default; unknown keys are errors with a suggestion. */
export const Settings = z.strictObject({
  coders: z
    .array(CoderSetting)
    .min(1)
    .max(12)
    .default([{ agent: 'builtin' }])
    .describe('Contestants; fewer than `candidates` are taken in turn with the next prompt variant.'),
  candidates: z.number().int().min(1).max(12).default(3).describe('How many coders compete.'),
  timeout: z
    .strictObject({
      candidate: duration('30m').describe('Wall time of one coder, from its start.'),
      silence: duration('5m').describe("Time since a coder's last line of output before it is stopped."),
      check: duration('10m').describe('Wall time of one build or one run of the tests.'),
      extendWhileProgressing: z
        .boolean()
        .default(true)
        .describe(
          'A coder that still makes progress when its wall time is over gets more, up to one and a half times as much.',
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
        .describe('US dollars for the whole run, planner included; enforced by the gateway.'),
      candidate: z.number().positive().max(1000).default(2).describe('US dollars for one coder.'),
      tokens: z
        .number()
        .int()
        .positive()
        .max(1e9)
        .optional()
        .describe(
          'Tokens, in and out, that one coder may use of a model whose price nobody knows, within MAX_TOKENS_CANDIDATE; absent: such a model is refused.',
        ),
    })
    .prefault({}),
  checks: z
    .strictObject({
      setup: z
        .string()
        .min(1)
        .optional()
        .describe('Run once on the base checkout, before any candidate, e.g. to install packages.'),
      build: z.string().min(1).optional().describe('Detected from the repository when absent.'),
      test: z.string().min(1).optional().describe('Detected from the repository when absent.'),
    })
    .prefault({}),
  debate: z
    .enum(['auto', 'always', 'never'])
    .default('auto')
    .describe(
      'Critics debate the brief before anybody codes. `auto`: when the planner has a blocking question or sees a high risk; `always`; `never`.',
    ),
  critics: Critics.prefault({}),
  approval: z
    .enum(['never', 'plan'])
    .default('never')
    .describe('`plan`: coders start when a person with write permission has approved the plan.'),
  answer: z
    .strictObject({
      ask: z
        .boolean()
        .default(true)
        .describe('`false`: blocking questions are not asked; the run goes on with what they assume.'),
      within: duration('72h').describe('How long a run waits for an answer or an approval.'),
      otherwise: z
        .enum(['stop', 'assume'])
        .default('stop')
        .describe(
          'Then: `stop` ends the run; `assume` goes on with what the question says is assumed. A plan that needs approval is never assumed.',
        ),
    })
    .prefault({}),
  review: z
    .enum(['auto', 'always', 'never'])
    .default('auto')
    .describe(
      "Critics look for defects in the winner's diff; what they claim is executed, and can unseat it. `auto`: when the brief says that the risk is high, or a debate was held.",
    ),
  evaluator: z
    .array(EvaluatorName)
    .min(1)
    .refine((names) => new Set(names).size === names.length, { error: 'name each strategy once' })
    .default(['evidence', 'model'])
    .describe(
      'Strategies in the order in which they decide: `evidence` (what was executed), `model` (blind judges, every pair), `tournament` (blind judges, knockout); with either of these a model also writes tests where execution leaves doubt, `vote` (one for each model family), `score` (patch score), `metrics` (weights), `reviewer` (looks for a defect in the leading candidates; its tests count as execution admits them), `human` (a person picks). Gates come before all of them.',
    ),
  weights: Weights.prefault({}),
  adaptive: z
    .strictObject({
      stopEarly: z
        .boolean()
        .default(false)
        .describe(
          '`true`: when the first coders to finish pass every gate, break nothing and agree, the others are stopped. Two of different model families are needed where there are any. It saves money and gives up comparisons: models also agree when they are wrong.',
        ),
      oneMore: z
        .boolean()
        .default(true)
        .describe(
          'When all candidates fail, each for a reason of its own, one more contestant is asked, within `budget.run` and MAX_CANDIDATES.',
        ),
      repair: z
        .boolean()
        .default(true)
        .describe(
          'When no candidate passes without breaking a test, the best two get one more turn on their own patch, told what failed, within `budget.run`.',
        ),
    })
    .prefault({}),
  synthesis: z
    .boolean()
    .default(false)
    .describe(
      '`true`: when two candidates each fix what the other misses, a coder merges them into one more candidate, which is examined and judged like any other.',
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
          "`host` or `host:port` (default port 443) that `checks.setup` may reach, within the operator's NETWORK_ALLOW.",
        ),
      checks: z
        .boolean()
        .default(false)
        .describe(
          '`true`: build and tests may reach them too. They execute what candidates wrote, which could send your code there. Coders never have a network.',
        ),
    })
    .prefault({}),
  instructions: z
    .enum(['read', 'ignore'])
    .default('read')
    .describe(
      '`read`: AGENTS.md or CLAUDE.md of the base commit (on GitHub of the default branch) is given to every coder as context.',
    ),
  ci: z
    .enum(['hold', 'run'])
    .default('hold')
    .describe("`hold`: the pushed commit asks GitHub's own CI not to start until a person says so."),
});
export type Settings = z.infer<typeof Settings>;
