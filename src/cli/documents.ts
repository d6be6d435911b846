import { z } from 'zod';
import { CandidateDocument, JudgedPairDocument, RunDocument } from '../core/reports/index.ts';

const run = z.string().describe('Id of the run.');
const ofCandidate = z.string().describe('The letter of a candidate.');

const FaultDocument = z
  .strictObject({
    error: z.strictObject({
      code: z.string().describe('Such as RUN_UNKNOWN; docs/troubleshooting.md has a section for each.'),
      message: z.string(),
      advice: z.string().describe('What to do next.'),
    }),
  })
  .describe('Printed by every command instead of its document if it fails.');

/** What each command prints with `--json`, by the command; several forms of one command have a word behind it. */
export const DOCUMENTS = {
  run: RunDocument,
  resume: RunDocument,
  status: RunDocument,
  runs: z.array(RunDocument),
  show: RunDocument.extend({
    explanation: z
      .looseObject({})
      .nullable()
      .describe('All evidence, the scores of every strategy, the decision and the verdicts; null before it.'),
  }),
  'show-candidate': z.strictObject({ alias: ofCandidate, diff: z.string() }),
  explain: z.strictObject({ run, candidate: CandidateDocument, judged: z.array(JudgedPairDocument) }),
  pick: z.strictObject({
    run,
    picked: ofCandidate.nullable().describe('Null: none of the candidates.'),
    branch: z.string().nullable(),
    merge: z.string().nullable().describe('The command that merges the branch.'),
  }),
  cancel: z.strictObject({ run, cancelled: z.boolean().describe('False: it had already ended.') }),
  answer: z.strictObject({ run, accepted: z.literal(true) }),
  approve: z.strictObject({ run, accepted: z.literal(true) }),
  revise: z.strictObject({ run, accepted: z.literal(true) }),
  error: FaultDocument,
} as const satisfies Readonly<Record<string, z.ZodType>>;

/** One JSON Schema for all documents about runs, each under `$defs` by the name of its command. */
export function commandLineSchema(): Readonly<Record<string, unknown>> {
  // What several documents have in common is described once, as `__schema…`.
  const { $defs, properties } = z.toJSONSchema(z.object(DOCUMENTS), { reused: 'ref' });
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'What the commands of runoff print with --json',
    description: '`#/$defs/run` is what `runoff run --json` prints, and so on.',
    $defs: { ...properties, ...$defs },
  };
}
