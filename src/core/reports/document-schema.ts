import { z } from 'zod';
import { CANDIDATE_STATES, RUN_STATES, STAGES } from '../model/index.ts';
import {
  BriefDocument,
  DebateDocument,
  DialogueDocument,
  inDollars,
  instant,
  JudgementDocument,
  letter,
  listOf,
  ReviewDocument,
} from './document-brief.ts';

/** What a run started from. */
const BaseDocument = z.strictObject({
  ref: z.string(),
  sha: z.string(),
  uncommitted: z
    .literal(true)
    .optional()
    .describe("It has the uncommitted changes of a local working tree: a commit of Runoff's own."),
});

/** What a run does not keep of its pull request: it can change on GitHub. */
const ofDemo = <T extends z.ZodType>(schema: T) =>
  schema.nullable().describe('Only `runoff demo` asks for it; null elsewhere.');
const PullDocument = z.strictObject({
  number: z.number(),
  url: z.string(),
  head: z.string().describe('Its branch.'),
  draft: ofDemo(z.boolean()),
  base: ofDemo(z.string()),
  body: ofDemo(z.string()),
});

const CheckDocument = z
  .strictObject({
    name: z.string(),
    passed: z.boolean(),
    detail: z.string(),
    exitCode: z.number().nullable().optional(),
    ms: z.number().optional(),
  })
  .describe(
    'One check of a candidate: a gate, the existing tests, or the tests of another candidate that passed every gate.',
  );

const FindingDocument = z.strictObject({
  kind: z.string(),
  path: z.string(),
  line: z.number().optional(),
  what: z.string().describe('What the patch does, as a clause.'),
  hunk: z.string().optional(),
  tests: listOf(z.string()).optional(),
  severity: z.enum(['gate', 'question', 'note']),
  declared: z.literal(true).optional(),
  original: z.enum(['passes', 'fails', 'not-run']).optional(),
  settled: z.string().optional(),
});

const BehaviourDocument = z.strictObject({
  observed: z.number(),
  contested: z.number(),
  support: z.number(),
  logOdds: z.number(),
  agreement: z.number(),
  asBase: z.number(),
  group: z.number(),
  differences: listOf(
    z.strictObject({ input: z.string(), got: z.string(), others: z.string(), base: z.string().nullable() }),
  ),
});

const ScoresDocument = z.strictObject({
  evidence: z.number().describe('Executed evidence: natural logarithm of odds, of use only within the run.'),
  metrics: z
    .strictObject({
      tests: z.number().nullable(),
      simplicity: z.number(),
      speed: z.number(),
      total: z.number(),
    })
    .describe('Ratios 0 to 1; `total` 0 to 100.'),
  votes: z.number().describe('Model families whose candidates made the same change.'),
  patch: z
    .strictObject({ score: z.number(), because: listOf(z.string()) })
    .nullable()
    .describe('Static score of the patch, 0 to 120, with a sentence for each rule that applied.'),
  judges: z
    .strictObject({
      alias: letter,
      strength: z.number(),
      error: z.number(),
      wins: z.number(),
      ties: z.number(),
      losses: z.number(),
    })
    .nullable()
    .describe('Blind judges; null if they did not compare it.'),
  weighted: z
    .number()
    .nullable()
    .describe('Weighted mean of the standardised scores; null without such weights.'),
  because: z.string(),
});

/** What blind mode hides. */
const unlessHidden = <T extends z.ZodType>(schema: T) =>
  schema.nullable().describe('Null while `namesHidden` of the run is true.');

export const CandidateDocument = z.strictObject({
  alias: letter,
  contestant: unlessHidden(z.string()),
  agent: unlessHidden(z.string()),
  model: unlessHidden(z.string()),
  prompt: unlessHidden(z.string()),
  coderVersion: z
    .string()
    .nullable()
    .describe('As the agent reports it; null if it did not start, or is hidden.'),
  state: z.enum(CANDIDATE_STATES),
  note: z.string(),
  place: z.number().nullable(),
  survivor: z.boolean(),
  patch: z
    .strictObject({
      files: z.number(),
      additions: z.number(),
      deletions: z.number(),
      sha256: z.string(),
    })
    .nullable(),
  checks: listOf(CheckDocument),
  findings: listOf(FindingDocument).describe(
    'Places of the patch that fail the gate `untampered`, or that a person should look at.',
  ),
  behaviour: BehaviourDocument.nullable(),
  agreement: z
    .number()
    .nullable()
    .describe(
      'How similar its source changes are to those of the other candidates that passed every gate, 0 to 1.',
    ),
  scores: ScoresDocument.nullable().describe("Each strategy's score; null before the decision."),
  tokens: unlessHidden(z.strictObject({ in: z.number(), out: z.number() })),
  usd: unlessHidden(inDollars),
  ms: z.number().describe('Wall time of the coder, milliseconds.'),
});

const DecisionDocument = z.strictObject({
  kind: z.enum(['winner', 'toss-up', 'none']),
  alias: letter.nullable(),
  confidence: z.enum(['clear', 'likely']).nullable(),
  chance: z.number().nullable().describe('Estimated chance that the pick is right, 0 to 1.'),
  among: listOf(letter).describe('For a toss-up: the candidates from which a person should pick.'),
  decidedBy: z.string(),
  because: z.string(),
  caps: listOf(z.strictObject({ most: z.number(), because: z.string() })).describe(
    'Upper limits of the chance, each with a sentence.',
  ),
});

const FieldDocument = z.strictObject({
  first: z.number().describe('Contestants that start at once.'),
  of: z.number().describe('All contestants of the field.'),
  firstUsd: inDollars
    .nullable()
    .describe('What the first ones probably cost; null: unknown, or hidden by blind mode.'),
  allUsd: inDollars.nullable(),
  end: z
    .strictObject({
      started: z.number(),
      of: z.number(),
      because: z.string(),
      savedUsd: inDollars.nullable().describe('What the others would probably have cost.'),
    })
    .nullable(),
});

const optionalText = z.string().optional();
const ChecksDocument = z.strictObject({
  setup: optionalText,
  build: optionalText,
  types: optionalText,
  test: optionalText,
  from: z.partialRecord(z.enum(['setup', 'build', 'test', 'types']), z.string()).optional(),
  named: listOf(z.string()).optional(),
  instead: z.partialRecord(z.enum(['setup', 'build', 'test']), z.string()).optional(),
  lent: z
    .union([
      z.strictObject({ kind: z.literal('used'), folders: listOf(z.string()), instead: optionalText }),
      z.strictObject({ kind: z.literal('unused'), why: z.string() }),
    ])
    .optional(),
  settled: z.literal(true).optional(),
  step: z
    .strictObject({
      name: z.string(),
      command: optionalText,
      done: z.number().optional(),
      of: z.number().nullish().describe('Null: not known beforehand.'),
      leftMs: z.number().optional(),
      since: instant,
    })
    .optional()
    .describe('What is being executed on the base commit or on candidates.'),
  base: z
    .strictObject({
      silence: z.string().optional(),
      stopped: z.string().optional(),
      exitCode: z.number().nullable(),
      passed: z.number(),
      total: z.number(),
      excluded: listOf(z.strictObject({ because: z.string(), count: z.number(), names: listOf(z.string()) })),
      lines: listOf(z.string()),
      need: z.string().optional(),
    })
    .optional(),
});

/** One run as one document: what `--json` prints and the API answers. What a local run lacks is null or an empty list. */
export const RunDocument = z.strictObject({
  issue: z
    .strictObject({ repository: z.string(), number: z.number(), title: z.string() })
    .nullable()
    .describe('Null for a local run.'),
  run: z.strictObject({
    id: z.string(),
    title: z.string(),
    state: z.enum(RUN_STATES),
    base: BaseDocument.nullable(),
    checks: ChecksDocument.nullable(),
    sandbox: z
      .strictObject({ backend: z.string(), detail: z.string(), weaker: listOf(z.string()) })
      .nullable(),
    queue: z
      .strictObject({ position: z.number(), of: z.number(), why: z.string().optional() })
      .nullable()
      .describe('Its position in the queue; null if the run is not queued.'),
    lowered: listOf(z.string()).describe(
      "A sentence for each setting of the repository that the operator's limits lowered.",
    ),
    learned: listOf(z.string()).describe(
      'What earlier runs of the repository changed in this one, one sentence each.',
    ),
    field: FieldDocument.nullable().describe(
      'With `adaptive.field: sequential`: how many contestants start, and what they probably cost. Null: all started at once.',
    ),
    namesHidden: z
      .boolean()
      .describe('Whether blind mode hides who wrote which candidate, until a pick or the end of the run.'),
    stages: listOf(
      z.strictObject({
        stage: z.enum(STAGES),
        startedAt: instant,
        endedAt: instant.nullable(),
        ms: z.number().nullable(),
      }),
    ),
    candidates: listOf(CandidateDocument),
    brief: BriefDocument.nullable().describe(
      'The brief that every coder got; null before the planner has answered.',
    ),
    debate: DebateDocument.nullable(),
    dialogue: DialogueDocument.nullable().describe('Questions about the brief and the replies.'),
    decision: DecisionDocument.nullable(),
    judgement: JudgementDocument.nullable().describe('Null if no judge was asked.'),
    review: listOf(ReviewDocument).describe('Reviews of the candidates that were first, in order.'),
    trouble: z.strictObject({ code: z.string(), message: z.string(), advice: z.string() }).nullable(),
    budget: z.strictObject({ run: inDollars, spent: inDollars }),
  }),
  branches: z.record(z.string(), z.string()).describe('The branch of each candidate, by its letter.'),
  merge: z
    .string()
    .nullable()
    .describe(
      'Of a local run: the command that merges the winner, or applies it to uncommitted changes. Null for others.',
    ),
  pull: PullDocument.nullable().describe('The pull request that the run opened; null if there is none.'),
  comments: listOf(
    z.strictObject({
      id: z.number(),
      on: z.number().describe('Number of the issue or pull request that the comment is on.'),
      body: z.string(),
    }),
  ).describe('Those on the issue and the pull request. Only `runoff demo` asks for them; empty elsewhere.'),
  issueLabels: listOf(z.string()).describe('Only `runoff demo` asks for them; empty elsewhere.'),
  timings: z.record(z.string(), z.number()).describe('Milliseconds: in total, and of each stage.'),
});
export type RunDocument = z.infer<typeof RunDocument>;
export type CandidateDocument = z.infer<typeof CandidateDocument>;
