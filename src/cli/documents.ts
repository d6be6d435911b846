import { z } from 'zod';
import { RUN_STATES } from '../core/model/index.ts';
import { CandidateDocument, JudgedPairDocument, RunDocument } from '../core/reports/index.ts';
import { MODEL_PROTOCOLS } from '../core/settings/index.ts';

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

const count = z.int().min(0);
const bytes = count.describe('Bytes on disk.');
const actor = z.strictObject({ id: z.number().describe('Numeric id at GitHub.'), login: z.string() });

const FindingDocument = z.strictObject({
  name: z.string().describe('What was looked at.'),
  state: z.enum(['ok', 'warning', 'fault']).describe('With `fault`, Runoff cannot run here.'),
  detail: z.string(),
  remedy: z.string().optional().describe('What to do next; only with `warning` and `fault`.'),
});

const perMillion = z.number().describe('US dollars per million tokens.');
const OfferDocument = z.union([
  z.strictObject({
    kind: z.literal('models'),
    provider: z.string(),
    models: z.array(
      z.strictObject({
        id: z.string(),
        price: z
          .strictObject({ input: perMillion, output: perMillion })
          .nullable()
          .describe('Null if unknown.'),
      }),
    ),
  }),
  z.strictObject({ kind: z.literal('failed'), provider: z.string(), why: z.string() }),
]);

const state = z.enum(RUN_STATES);
const AuditEntryDocument = z.union([
  z
    .strictObject({
      kind: z.literal('command'),
      command: z.string().describe('Id of the command.'),
      by: actor,
      token: z.string().optional().describe('Id of the API token that it came by.'),
      text: z.string(),
      thread: z.number().describe('Number of the issue or pull request.'),
      outcome: z.union([
        z.strictObject({ kind: z.literal('done'), note: z.string() }),
        z.strictObject({ kind: z.enum(['refused', 'ignored']), why: z.string() }),
      ]),
    })
    .describe('A command of a person, with its outcome.'),
  z
    .strictObject({ kind: z.enum(['refusal', 'transition']), from: state, to: state, cause: z.string() })
    .describe('A run that was refused, or that people ended or changed.'),
  z.strictObject({
    kind: z.literal('token'),
    what: z.enum(['created', 'revoked']),
    token: z.string(),
    by: actor.nullable().describe('Null: somebody at the command line.'),
  }),
  z
    .strictObject({
      kind: z.literal('write'),
      what: z.string(),
      repository: z.string(),
      thread: z.number().optional(),
      branch: z.string().optional(),
      outcome: z.enum(['done', 'refused', 'failed']),
      status: z.number().optional().describe('HTTP status.'),
    })
    .describe('A write to GitHub.'),
]);

const AuditDocument = z.strictObject({
  at: z.iso.datetime(),
  number: z.int().describe('Increases with every entry.'),
  run: z.string().optional(),
  repositoryId: z.number().optional(),
  entry: AuditEntryDocument,
});

const PruneDocument = z.strictObject({
  dryRun: z.boolean(),
  retired: z.strictObject({
    runs: count,
    calls: count.describe('Model calls.'),
    audit: count.describe('Entries of the audit log.'),
    answers: count.describe('Kept answers of models.'),
    branches: count.describe('Branches of losing candidates on GitHub.'),
    held: count.describe(
      'Expired runs that stay because their branches could not be deleted, or their outcomes could not be kept.',
    ),
    flows: count.describe('Records of the engine.'),
    artifacts: z.strictObject({ files: count, bytes }),
  }),
  unused: z
    .strictObject({
      checkouts: count,
      layers: count,
      patches: count,
      repositories: count,
      tools: count,
      bytes,
      busy: count.describe('Repositories that were skipped because they were in use.'),
    })
    .optional()
    .describe('Absent in a dry run.'),
  sizes: z.record(z.string(), bytes).optional().describe('Of a dry run: the data folder by kind.'),
});

const AgentDocument = z.strictObject({
  name: z.string(),
  from: z.enum(['runoff', 'npm', 'operator']),
  installed: z.string().nullable().describe('The installed version; null for none.'),
  tested: z.string().nullable().describe('The version that Runoff was tested with.'),
  missingFolder: z.string().nullable(),
  protocols: z.array(z.enum(MODEL_PROTOCOLS)),
  experimental: z.boolean(),
});

const RunWithProcess = RunDocument.extend({
  stopped: z
    .boolean()
    .describe(
      'Whether the process of a local run has ended before the run: `runoff resume` continues it. Always false for runs of the App.',
    ),
});

/** What each command prints with `--json`, by the command; several forms of one command have a word behind it. */
export const DOCUMENTS = {
  run: RunDocument,
  resume: RunDocument,
  status: RunWithProcess,
  runs: z.array(RunWithProcess),
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
  doctor: z.strictObject({ findings: z.array(FindingDocument) }),
  models: z.strictObject({ offers: z.array(OfferDocument) }),
  agents: z.strictObject({ agents: z.array(AgentDocument) }),
  audit: z.array(AuditDocument).describe('The latest entries, oldest first.'),
  prune: PruneDocument,
  'prune-branches': z.strictObject({
    dryRun: z.boolean(),
    branches: z.array(
      z.strictObject({ branch: z.string(), kept: z.string().nullable().describe('Null: deleted.') }),
    ),
  }),
  forget: z.strictObject({
    dryRun: z.boolean(),
    repository: z.string().describe('Its key, such as github-42.'),
    outcomes: count.describe('Outcomes of candidates that were deleted; in a dry run, that would be.'),
  }),
  'token-revoke': z.strictObject({ token: z.string().describe('Its id.'), revoked: z.literal(true) }),
  error: FaultDocument,
} as const satisfies Readonly<Record<string, z.ZodType>>;

/** One JSON Schema for all these documents, each under `$defs` by the name of its command. */
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
