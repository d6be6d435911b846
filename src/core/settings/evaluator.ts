import { z } from 'zod';
import { suggest } from './problems.ts';

const strategyWeight = (what: string) => z.number().min(0).max(100).optional().describe(`Weight of ${what}.`);

export const Weights = z
  .strictObject({
    tests: z
      .number()
      .min(0)
      .max(100)
      .default(50)
      .describe(
        'For `metrics`: weight of the share of all executed tests that pass: existing tests, independent ones, and those of candidates over the same set. The type check counts as one test.',
      ),
    simplicity: z
      .number()
      .min(0)
      .max(100)
      .default(30)
      .describe(
        "For `metrics`: weight of the size of the smallest production patch of all candidates that passed every gate, divided by this one's.",
      ),
    speed: z
      .number()
      .min(0)
      .max(100)
      .default(20)
      .describe(
        "For `metrics`: weight of the shortest coder time of all candidates that passed every gate, divided by this one's.",
      ),
    evidence: strategyWeight(
      'executed evidence. If this or one of the next four weights is above 0, candidates that passed every gate are ordered by the weighted mean of their standardised scores instead of by `evaluator`',
    ),
    judges: strategyWeight(
      'blind judges, who then compare all candidates that pass every gate and break no existing test',
    ),
    vote: strategyWeight('the votes of model families'),
    score: strategyWeight('the patch score'),
    metrics: strategyWeight('the total of metrics'),
  })
  .refine((weights) => weights.tests + weights.simplicity + weights.speed > 0, {
    message: 'at least one weight must be above 0',
  });
export type Weights = z.infer<typeof Weights>;

/** When an optional part of a run takes place; `auto`: if there is a reason for it. */
export const WHEN = ['auto', 'always', 'never'] as const;
export type When = (typeof WHEN)[number];

/** Strategies that rank candidates. In a list each one decides among the candidates that the ones before it leave undecided. */
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

/** Strategies in the order in which they decide. */
export const EvaluatorNames = z
  .array(EvaluatorName)
  .min(1)
  .refine((names) => new Set(names).size === names.length, { error: 'name each strategy once' });

function noSuchEvaluator(written: unknown): string {
  const meant = typeof written === 'string' ? suggest(written.slice(0, 60), EVALUATORS) : null;
  const hint = meant ? `did you mean ${meant}?` : `known: ${EVALUATORS.join(', ')}`;
  return `there is no strategy ${shownValue(written)}; ${hint}`;
}

const shownValue = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value.slice(0, 60)) : 'of this kind';
