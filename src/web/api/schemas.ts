import { z } from '@hono/zod-openapi';
import {
  MAX_CODERS,
  parseRunOption,
  type RunOption,
  type RunTextOptions,
  runOptionText,
} from '../../core/commands/index.ts';
import { RUN_STATES } from '../../core/model/index.ts';
import { RunDocument } from '../../core/reports/index.ts';
import { EVALUATORS, WHEN } from '../../core/settings/index.ts';
import { PROBLEMS, type ProblemName } from './problems.ts';

/** Most runs on one page of a list. Our default. */
const MAX_PAGE = 100;
/** As for the command `run`. */
const MAX_BUDGET_USD = 1_000;
const MAX_TIMEOUT_SECONDS = 7 * 86_400;

const name = z.string().min(1).max(100);
const param = (field: string, schema: z.ZodString, description: string) =>
  schema.openapi({ param: { name: field, in: 'path' }, description });

export const RepositoryPath = z.object({
  owner: param('owner', name, 'Owner of the repository on GitHub.'),
  repo: param('repo', name, 'Name of the repository.'),
});
export const RunPath = RepositoryPath.extend({
  id: param('id', z.string().min(1).max(40), 'Id of the run, such as `r7k2m9q4xa0`.'),
});
export const CandidatePath = RunPath.extend({
  alias: param('alias', z.string().regex(/^[A-Z]$/, 'write one capital letter'), 'Letter of the candidate.'),
});
export const IssuePath = RepositoryPath.extend({
  number: z
    .string()
    .regex(/^[1-9]\d{0,8}$/, 'write the number of an issue')
    .openapi({ param: { name: 'number', in: 'path' }, description: 'Number of the issue.' }),
});
/** Groups: owner, repository, number of the issue. */
export const TASK_ID = /^([^/#\s]{1,100})\/([^/#\s]{1,100})#([1-9]\d{0,8})$/;
export const TaskPath = z.object({
  id: param(
    'id',
    z.string().regex(TASK_ID, 'write owner/repository#number, URL-encoded'),
    'The issue as `owner/repository#number`, URL-encoded: `alice%2Ftally%237`.',
  ),
});
export const CommandPath = RepositoryPath.extend({
  command: param('command', z.string().min(1).max(300), 'Id of the command, as the answer to it said.'),
});

export const KeyHeader = z.object({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,200}$/, 'write 1 to 200 characters without blanks')
    .optional()
    .openapi({
      description:
        'Makes the request safe to repeat for 24 hours: the same key with the same request has its effect once and gets the same answer.',
    }),
});

export const ListQuery = z.strictObject({
  state: z.enum(RUN_STATES).optional().openapi({ description: 'Only runs in this state.' }),
  by: name.optional().openapi({ description: 'Only runs that this login asked for.' }),
  q: z.string().min(1).max(200).optional().openapi({ description: 'Only runs whose title contains this.' }),
  limit: z
    .string()
    .regex(/^\d{1,3}$/, 'write a whole number')
    .refine((text) => Number(text) >= 1 && Number(text) <= MAX_PAGE, `write 1 to ${MAX_PAGE}`)
    .optional()
    .openapi({ description: `Runs on a page, 1 to ${MAX_PAGE}; default 30.` }),
  cursor: z.string().min(1).max(100).optional().openapi({ description: '`next` of the page before.' }),
});

/** A value that cannot end its quotation marks in a command, or the list that it is in. */
const word = z
  .string()
  .max(160)
  .regex(/^[^\s,"'`“”‘’]+$/, 'write a name without blanks, commas and quotation marks');
const listOfWords = z.array(word).min(1).max(MAX_CODERS);

/** Accepts what the option of the command accepts. */
const asInCommands = <Value extends string | readonly string[]>(
  option: RunOption,
  schema: z.ZodType<Value>,
) =>
  schema.superRefine((value, context) => {
    const found = parseRunOption(option, runOptionText(value));
    if (typeof found === 'string') context.addIssue({ code: 'custom', message: found });
  });

const runOptions = {
  coders: asInCommands('coders', listOfWords)
    .optional()
    .openapi({ description: 'Agents, assigned in turn; `["auto"]`: chosen from earlier runs.' }),
  models: asInCommands('models', listOfWords).optional().openapi({
    description:
      'Models as `provider/model`, or the model alone where one provider offers it; assigned in turn.',
  }),
  prompts: asInCommands('prompts', listOfWords)
    .optional()
    .openapi({ description: 'Prompt variants, assigned in turn.' }),
  evaluator: asInCommands('evaluator', z.array(z.enum(EVALUATORS)).min(1))
    .optional()
    .openapi({ description: 'Strategies, in order, that choose among the candidates.' }),
  debate: z.enum(WHEN).optional().openapi({ description: 'When critics debate the brief.' }),
  review: z
    .enum(WHEN)
    .optional()
    .openapi({ description: "When critics look for defects in the winner's diff." }),
  synthesis: z
    .boolean()
    .optional()
    .openapi({ description: 'True: two candidates are merged where each fixes what the other misses.' }),
  budgetUsd: z
    .number()
    .min(0.01)
    .max(MAX_BUDGET_USD)
    .optional()
    .openapi({ description: 'Budget of the whole run in US dollars, lowered to the limit of the operator.' }),
  timeoutSeconds: z
    .number()
    .int()
    .min(1)
    .max(MAX_TIMEOUT_SECONDS)
    .optional()
    .openapi({ description: 'Time limit for each coder.' }),
  base: asInCommands('base', word)
    .optional()
    .openapi({ description: 'Branch, tag or commit to start from.' }),
} satisfies Record<Exclude<keyof RunTextOptions, 'candidates'>, z.ZodType>;
const count = z.number().int().min(1).max(MAX_CODERS);

export const StartRequest = z
  .strictObject({
    candidates: count.optional().openapi({ description: 'Number of competing coders.' }),
    ...runOptions,
  })
  .openapi('StartRequest', {
    description: 'Options for this run only. What is left out comes from the settings of the repository.',
  });

export const ProcessRequest = z
  .strictObject({
    multiAgent: z.boolean().optional().openapi({ description: 'False: one coder. Default: true.' }),
    coderCount: count.optional().openapi({ description: 'Number of competing coders.' }),
    ...runOptions,
  })
  .openapi('ProcessRequest', {
    description: 'The same options as for starting a run, with names that other systems use.',
  });

const candidateLetter = z.string().regex(/^[A-Z]$/, 'write the capital letter of a candidate');
export const PickRequest = z
  .strictObject({
    candidate: candidateLetter
      .nullable()
      .openapi({ description: 'Letter of the candidate; null: none of them.' }),
  })
  .openapi('PickRequest');
export const VoteRequest = z.strictObject({ candidate: candidateLetter }).openapi('VoteRequest');
export const RetryRequest = z
  .strictObject({
    candidate: candidateLetter.optional().openapi({
      description:
        'Runs only the contestant of this candidate again, beside the existing candidates. Default: the whole run.',
    }),
  })
  .openapi('RetryRequest');
export const NoOptions = z.strictObject({}).openapi('NoOptions');

export const CommandAnswer = z
  .strictObject({
    command: z.string().openapi({ description: 'Id of the command; it also stands in the audit log.' }),
    outcome: z.enum(['done', 'pending']).openapi({
      description: '`pending`: it is stored and will be applied; ask for the command again.',
    }),
    note: z.string().nullable().openapi({ description: 'What was done; null while it is pending.' }),
    run: z.string().nullable().openapi({ description: 'Id of the run that was started or changed.' }),
  })
  .openapi('CommandAnswer');
export type CommandAnswer = z.infer<typeof CommandAnswer>;

export const time = z.number().openapi({ description: 'Milliseconds since 1970 UTC.' });
export const RunSummary = z
  .strictObject({
    id: z.string(),
    issue: z.strictObject({ repository: z.string(), number: z.number(), title: z.string() }),
    state: z.enum(RUN_STATES),
    requestedBy: z.string().openapi({ description: 'Login of who asked for the run.' }),
    candidate: z.string().nullable().openapi({
      description: 'The candidate that a person picked, or else that the evidence puts first.',
    }),
    confidence: z.enum(['clear', 'likely']).nullable(),
    usd: z.number().openapi({ description: 'What the run has cost so far, in US dollars.' }),
    createdAt: time,
    updatedAt: time,
  })
  .openapi('RunSummary');
export type RunSummary = z.infer<typeof RunSummary>;

export const RunPage = z
  .strictObject({
    runs: z.array(RunSummary),
    next: z.string().nullable().openapi({ description: '`cursor` of the next page; null on the last one.' }),
  })
  .openapi('RunPage');

export const Run = z
  .strictObject({
    ...RunDocument.omit({ comments: true, issueLabels: true }).shape,
    explanation: z.looseObject({}).nullable().openapi({
      description:
        'The complete basis of the decision: results of executions, all scores, the verdicts of judges. Null until the run is decided. Its fields follow the version of Runoff.',
    }),
  })
  .openapi('Run', { description: 'What `runoff show --json` prints, without comments and labels.' });

export const Problem = z
  .strictObject({
    type: z.enum(Object.keys(PROBLEMS).map((one) => `/api/problems/${one}`) as [string, ...string[]]),
    title: z.string(),
    status: z.number().int(),
    detail: z.string().openapi({ description: 'What happened, and what to do.' }),
    instance: z.string().openapi({ description: 'Path of the request.' }),
    errors: z
      .array(z.strictObject({ field: z.string(), message: z.string() }))
      .optional()
      .openapi({ description: 'Each field that is wrong.' }),
  })
  .openapi('Problem');

export const PROBLEM_NAMES = Object.keys(PROBLEMS) as [ProblemName, ...ProblemName[]];
