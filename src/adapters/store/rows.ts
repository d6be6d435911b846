import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import {
  CANDIDATE_STATES,
  type Candidate,
  Fault,
  type Origin,
  RUN_STATES,
  type RunId,
  STAGES,
} from '../../core/model/index.ts';
import type { LedgerRow, RunPatch, RunRecord, StageTiming, Transition, Whose } from '../../ports/index.ts';
import type {
  CandidateTable,
  GatewayCallTable,
  RunTable,
  StageTimingTable,
  TransitionTable,
} from './schema.ts';

/** Replaces NUL and unpaired surrogates, which Postgres cannot store; models and test output produce both. */
export const storableText = (value: string): string => value.toWellFormed().replaceAll('\0', '\ufffd');

function storable(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map(storable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [storableText(key), storable(entry)]),
  );
}

/** JSON text for a jsonb column; `undefined` has no JSON and becomes null. */
export const storableJson = (value: unknown): string => JSON.stringify(storable(value)) ?? 'null';

export function oneOf<const Word extends string>(words: readonly Word[], found: string, what: string): Word {
  const word = words.find((candidate) => candidate === found);
  if (word === undefined) throw new Fault('INTERNAL', `The database holds an unknown ${what}: \`${found}\`.`);
  return word;
}

export const runState = (found: string) => oneOf(RUN_STATES, found, 'state of a run');

/** Omits columns that are null in the database, so that absent stays absent. */
export function withoutNulls<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  ) as { [K in keyof T]?: NonNullable<T[K]> };
}

/** Id of the user, repository or installation of a run on GitHub; null for a local run. `run` names the table. */
export function ownerColumn({ kind }: Whose, run: string) {
  const origin = sql.ref(`${run}.origin`);
  switch (kind) {
    case 'repository':
      return sql<number | null>`${sql.ref(`${run}.repository_id`)}`;
    case 'installation':
      return sql<number | null>`(${origin} ->> 'installationId')::bigint`;
    case 'user':
      return sql<number | null>`(${origin} #>> '{requestedBy,id}')::bigint`;
  }
}

/** Whether a `run` has started its first stage. */
export const hasBegun = sql<boolean>`exists (select from runoff.stage_timing where run_id = run.id)`;

export interface NewRun {
  readonly id: RunId;
  readonly origin: Origin;
  readonly title: string;
  readonly request: unknown;
  readonly at: number;
}

export function rowOfNewRun(run: NewRun): Insertable<RunTable> {
  const { origin } = run;
  return {
    id: run.id,
    origin: storableJson(origin),
    repository_id: origin.kind === 'github' ? origin.repositoryId : null,
    issue: origin.kind === 'github' ? origin.issue : null,
    state: 'queued',
    title: storableText(run.title),
    request: storableJson(run.request),
    created_at: run.at,
    updated_at: run.at,
  };
}

/** JSON columns that have the same name in a run. */
const DOCUMENTS = [
  'request',
  'task',
  'brief',
  'debate',
  'dialogue',
  'evidence',
  'ranking',
  'judgement',
  'decision',
  'review',
  'outcome',
  'trouble',
  'checks',
  'sandbox',
] as const satisfies readonly (keyof RunPatch)[];

/** `undefined` leaves a column unchanged. */
export function rowOfRunPatch(patch: RunPatch, at: number): Updateable<RunTable> {
  const { title, independentTests, testResults, fieldEnd, queueEntry, ...documents } = patch;
  const columns = DOCUMENTS.map((name) => [name, documents[name]] as const).filter(
    ([, value]) => value !== undefined,
  );
  return {
    ...Object.fromEntries(columns.map(([column, value]) => [column, storableJson(value)])),
    ...(title === undefined ? {} : { title: storableText(title) }),
    ...(independentTests === undefined ? {} : { independent_tests: storableJson(independentTests) }),
    ...(testResults === undefined ? {} : { test_results: storableJson(testResults) }),
    ...(fieldEnd === undefined ? {} : { field_end: storableJson(fieldEnd) }),
    ...(queueEntry === undefined ? {} : { queue_entry: storableJson(queueEntry) }),
    updated_at: at,
  };
}

/** What every reader of a run gets. */
export const startOfRow = (
  row: Pick<Selectable<RunTable>, 'id' | 'origin' | 'state' | 'created_at' | 'updated_at' | 'title'>,
) => ({
  id: row.id,
  origin: row.origin,
  state: runState(row.state),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  title: row.title,
});

export function runOfRow(
  row: Selectable<RunTable>,
  stages: readonly Selectable<StageTimingTable>[],
): RunRecord {
  const { task, brief, debate, dialogue, evidence, ranking } = row;
  const { judgement, decision, review, outcome, trouble, checks, sandbox } = row;
  return {
    ...startOfRow(row),
    request: row.request,
    ...withoutNulls({
      task,
      brief,
      debate,
      dialogue,
      evidence,
      independentTests: row.independent_tests,
      testResults: row.test_results,
      fieldEnd: row.field_end,
      ranking,
      judgement,
      decision,
      review,
      outcome,
      trouble,
      checks,
      sandbox,
      queueEntry: row.queue_entry,
    }),
    stages: stagesOfRows(stages.filter((stage) => stage.run_id === row.id)),
  };
}

/** Of one run, in their order. */
export const stagesOfRows = (rows: readonly Selectable<StageTimingTable>[]): readonly StageTiming[] =>
  rows.map(stageOfRow).toSorted((a, b) => STAGES.indexOf(a.stage) - STAGES.indexOf(b.stage));

const stageOfRow = (row: Selectable<StageTimingTable>): StageTiming => ({
  stage: oneOf(STAGES, row.stage, 'stage'),
  startedAt: row.started_at,
  ...withoutNulls({ endedAt: row.ended_at }),
});

export const transitionOfRow = (row: Selectable<TransitionTable>): Transition => ({
  from: runState(row.from_state),
  to: runState(row.to_state),
  cause: row.cause,
  at: row.at,
});

export const rowOfCandidate = (candidate: Candidate): Insertable<CandidateTable> => ({
  run_id: candidate.runId,
  alias: candidate.alias,
  ordinal: candidate.ordinal,
  contestant: storableJson(candidate.contestant),
  state: candidate.state,
  patch: candidate.patch === undefined ? null : storableJson(candidate.patch),
  usage: storableJson(candidate.usage),
  ms: candidate.ms,
  note: storableText(candidate.note),
  coder_version: candidate.coderVersion === undefined ? null : storableText(candidate.coderVersion),
});

export const candidateOfRow = (row: Selectable<CandidateTable>): Candidate => ({
  runId: row.run_id,
  alias: row.alias,
  ordinal: row.ordinal,
  contestant: row.contestant,
  state: oneOf(CANDIDATE_STATES, row.state, 'state of a candidate'),
  ...withoutNulls({ patch: row.patch }),
  usage: row.usage,
  ms: row.ms,
  note: row.note,
  ...withoutNulls({ coderVersion: row.coder_version }),
});

export const rowOfCall = (call: LedgerRow): Insertable<GatewayCallTable> => ({
  run_id: call.runId,
  spender: storableText(call.spender),
  repository: storableText(call.repository),
  model: storableText(call.model),
  tokens_in: call.tokensIn,
  tokens_out: call.tokensOut,
  tokens_cached: call.tokensCached,
  tokens_reasoning: call.tokensReasoning,
  usd: call.usd,
  exact: call.exact,
  status: call.status,
  ms: call.ms,
  at: call.at,
});

export const callOfRow = (row: Selectable<GatewayCallTable>): LedgerRow => ({
  runId: row.run_id,
  spender: row.spender,
  repository: row.repository,
  model: row.model,
  tokensIn: row.tokens_in,
  tokensOut: row.tokens_out,
  tokensCached: row.tokens_cached,
  tokensReasoning: row.tokens_reasoning,
  usd: row.usd,
  exact: row.exact,
  status: row.status,
  ms: row.ms,
  at: row.at,
});
