import { z } from 'zod';
import { Brief, Question, SEVERITIES } from '../model/index.ts';

/** A list that no reader changes. */
export const listOf = <T extends z.ZodType>(item: T) => z.array(item).readonly();
export const instant = z.number().describe('Milliseconds since 1970 UTC.');
export const letter = z.string().describe('The letter of a candidate.');
export const inDollars = z.number().describe('US dollars.');

const QuestionDocument = Question.strict().extend({ options: listOf(z.string()) });

export const BriefDocument = Brief.strict().extend({
  questions: listOf(QuestionDocument),
  risk: Brief.shape.risk.unwrap().strict().optional(),
  acceptance: listOf(z.string()).optional(),
  forecast: z.strictObject({ least: inDollars, most: inDollars }).optional(),
  notes: listOf(z.string()).optional(),
  overlaps: z
    .strictObject({
      pulls: listOf(z.strictObject({ number: z.number(), files: listOf(z.string()) })),
      missing: z.string().optional().describe('Why not every open pull request was compared.'),
    })
    .optional()
    .describe('Open pull requests of the repository that change files of the plan, too.'),
});

const CostDocument = z.strictObject({ inputTokens: z.number(), outputTokens: z.number(), usd: inDollars });

const TurnDocument = z.union([
  z.strictObject({
    critic: z.string(),
    model: z.string(),
    kind: z.literal('answered'),
    approved: z.boolean(),
    raised: listOf(z.string()),
    upheldIssues: listOf(z.string()),
    checks: listOf(z.string()),
  }),
  z.strictObject({ critic: z.string(), model: z.string(), kind: z.literal('stands') }),
  z.strictObject({ critic: z.string(), model: z.string(), kind: z.literal('failed'), why: z.string() }),
]);

const DebateIssueDocument = z.strictObject({
  id: z.string(),
  round: z.number(),
  critic: z.string(),
  title: z.string(),
  quote: z.string(),
  severity: z.enum(SEVERITIES),
  scenario: z.string(),
  edit: z.string(),
  needsHuman: z.boolean(),
  status: z.union([
    z.strictObject({ kind: z.literal('open') }),
    z.strictObject({ kind: z.enum(['accepted', 'rejected']), because: z.string() }),
    z.strictObject({ kind: z.literal('asked'), because: z.string(), question: QuestionDocument }),
  ]),
  upheld: z.number(),
  withdrawn: z.boolean().optional(),
  loweredBecause: z.string().optional(),
});

export const DebateDocument = z.strictObject({
  original: z.string(),
  spec: z.string(),
  rounds: listOf(
    z.strictObject({
      roundNumber: z.number(),
      critiques: listOf(TurnDocument),
      synthesis: z
        .strictObject({
          model: z.string(),
          spec: z.string(),
          refused: listOf(z.string()),
          failed: z.string().optional(),
        })
        .optional(),
      hasConsensus: z.boolean(),
      diffFromPrevious: z.string(),
      changed: z.number(),
      cost: CostDocument,
    }),
  ),
  ledger: listOf(DebateIssueDocument),
  acceptance: listOf(z.strictObject({ given: z.string(), expect: z.string(), catches: z.string() })),
  cost: CostDocument,
  memories: z.record(
    z.string(),
    z.strictObject({ lastSpec: z.string().nullable(), approved: z.boolean(), challenged: z.boolean() }),
  ),
  end: z.strictObject({ stop: z.string(), because: z.string() }).optional(),
});

const PersonDocument = z.strictObject({ id: z.number(), login: z.string() });
const inquiryFields = {
  number: z.number(),
  askedAt: instant,
  until: instant,
  settled: z
    .union([
      z.strictObject({
        kind: z.enum(['answered', 'revised']),
        text: z.string(),
        by: PersonDocument.nullable(),
        at: instant,
      }),
      z.strictObject({ kind: z.enum(['approved', 'debated']), by: PersonDocument.nullable(), at: instant }),
      z.strictObject({ kind: z.literal('assumed'), text: z.string(), at: instant }),
      z.strictObject({ kind: z.literal('expired'), at: instant }),
    ])
    .optional(),
};
export const DialogueDocument = z.strictObject({
  inquiries: listOf(
    z.union([
      z.strictObject({ ...inquiryFields, kind: z.literal('answer'), question: QuestionDocument }),
      z.strictObject({ ...inquiryFields, kind: z.literal('approval') }),
    ]),
  ),
  lastReply: z.number(),
  repliesUsed: z.number(),
  debatesHeld: z.number().optional(),
});

export const ReviewDocument = z.strictObject({
  alias: letter,
  critics: listOf(
    z.union([
      z.strictObject({
        critic: z.string(),
        kind: z.enum(['passed', 'objects']),
        model: z.string(),
        because: z.string(),
        objections: listOf(
          z.strictObject({
            file: z.string(),
            line: z.number(),
            input: z.string(),
            expected: z.string(),
            got: z.string(),
            outcome: z.enum(['confirmed', 'doubt', 'refuted']),
            because: z.string(),
          }),
        ),
      }),
      z.strictObject({ critic: z.string(), kind: z.literal('failed'), why: z.string() }),
    ]),
  ),
  contested: z.boolean(),
  after: z.strictObject({ alias: letter.nullable(), because: z.string() }).optional(),
});

export const JudgedPairDocument = z.strictObject({
  a: letter,
  b: letter,
  byJudge: listOf(
    z.strictObject({
      judge: z.string(),
      outcome: z.enum(['a', 'b', 'tie']),
      consistent: z
        .boolean()
        .describe('False: the answer changed with the order of the two, so it counts as a tie.'),
      because: z.string().describe('Written by a model.'),
      cited: listOf(z.strictObject({ alias: letter, file: z.string(), line: z.number() })),
    }),
  ),
  alike: z.literal(true).optional().describe('The patches are the same, so no judge was asked.'),
});

export const JudgementDocument = z
  .strictObject({
    kind: z.enum(['judged', 'discarded', 'unanswered']),
    format: z.enum(['round-robin', 'knockout']),
    because: z.string(),
    pairs: listOf(JudgedPairDocument).describe('Each match, with the reason of each judge.'),
    notes: listOf(z.string()),
    usd: inDollars,
  })
  .describe('What blind judges said: opinions, not executed.');
