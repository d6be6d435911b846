import type { ColumnType, Generated } from 'kysely';
import type { NewReply } from '../../core/dialogue/index.ts';
import type {
  ArtifactRef,
  Brief,
  Candidate,
  Contestant,
  Origin,
  Task,
  Usage,
} from '../../core/model/index.ts';
import type {
  AuditEntry,
  CommandOutcome,
  ExecutorFacts,
  KeptAnswer,
  NewCommand,
  Pick,
  RunRecord,
  Vote,
} from '../../ports/index.ts';

/** A jsonb column: read as a value, written as JSON text. */
type Json<T> = ColumnType<T, string, string>;
type OptionalJson<T> = ColumnType<T | null, string | null | undefined, string | null>;

export interface RunTable {
  id: string;
  origin: Json<Origin>;
  repository_id: number | null;
  issue: number | null;
  state: string;
  title: string;
  request: Json<unknown>;
  created_at: number;
  updated_at: number;
  task: OptionalJson<Task>;
  brief: OptionalJson<Brief>;
  debate: OptionalJson<NonNullable<RunRecord['debate']>>;
  dialogue: OptionalJson<NonNullable<RunRecord['dialogue']>>;
  evidence: OptionalJson<NonNullable<RunRecord['evidence']>>;
  ranking: OptionalJson<NonNullable<RunRecord['ranking']>>;
  neutral: OptionalJson<NonNullable<RunRecord['neutral']>>;
  judgement: OptionalJson<NonNullable<RunRecord['judgement']>>;
  decision: OptionalJson<NonNullable<RunRecord['decision']>>;
  review: OptionalJson<NonNullable<RunRecord['review']>>;
  outcome: OptionalJson<NonNullable<RunRecord['outcome']>>;
  trouble: OptionalJson<NonNullable<RunRecord['trouble']>>;
  checks: OptionalJson<NonNullable<RunRecord['checks']>>;
  sandbox: OptionalJson<NonNullable<RunRecord['sandbox']>>;
  line: OptionalJson<NonNullable<RunRecord['line']>>;
}

export interface CandidateTable {
  run_id: string;
  alias: string;
  ordinal: number;
  contestant: Json<Contestant>;
  state: string;
  patch: OptionalJson<NonNullable<Candidate['patch']>>;
  usage: Json<Usage>;
  ms: number;
  note: string;
  coder_version: string | null;
}

export interface TransitionTable {
  id: Generated<number>;
  run_id: string;
  from_state: string;
  to_state: string;
  cause: string;
  at: number;
}

export interface StageTimingTable {
  run_id: string;
  stage: string;
  started_at: number;
  ended_at: number | null;
}

export interface GatewayCallTable {
  id: Generated<number>;
  run_id: string;
  spender: string;
  repository: string;
  model: string;
  tokens_in: number;
  tokens_out: number;
  tokens_cached: number;
  tokens_reasoning: number;
  usd: number;
  exact: boolean;
  status: number;
  ms: number;
  at: number;
}

export interface DeliveryTable {
  id: string;
  event: string;
  semantic_key: string;
  run_id: string;
  at: number;
}

export interface IntentTable {
  /** A run's id, or that of a command which concerns no run. */
  scope: string;
  key: string;
  state: 'planned' | 'done';
  result: OptionalJson<unknown>;
}

export interface ReplyTable {
  run_id: string;
  number: number;
  key: string;
  reply: Json<NewReply>;
}

export interface CommandTable {
  id: string;
  repository_id: number;
  comment: number;
  at: number;
  heard: Json<NewCommand>;
  outcome: OptionalJson<CommandOutcome>;
  run_id: string | null;
  settled_at: number | null;
}

export interface VoteTable {
  run_id: string;
  user_id: number;
  vote: Json<Vote>;
  at: number;
}

export interface PickTable {
  run_id: string;
  number: number;
  key: string;
  pick: Json<Omit<Pick, 'number'>>;
}

export interface ModelAnswerTable {
  run_id: string;
  spender: string;
  question: string;
  number: number;
  answer: Json<{ status: number; headers: KeptAnswer['headers'] }>;
  body: Json<ArtifactRef>;
  at: number;
}

export interface AuditTable {
  id: Generated<number>;
  at: number;
  kind: string;
  repository_id: number | null;
  run_id: string | null;
  entry: Json<AuditEntry>;
}

/** The tables of `migrations/`, as of the last one. */
export interface Schema {
  'runoff.run': RunTable;
  'runoff.candidate': CandidateTable;
  'runoff.transition': TransitionTable;
  'runoff.stage_timing': StageTimingTable;
  'runoff.gateway_call': GatewayCallTable;
  'runoff.delivery': DeliveryTable;
  'runoff.intent': IntentTable;
  'runoff.reply': ReplyTable;
  'runoff.answer': AnswerTable;
  'runoff.model_answer': ModelAnswerTable;
  'runoff.command': CommandTable;
  'runoff.vote': VoteTable;
  'runoff.pick': PickTable;
  'runoff.executor': ExecutorTable;
  'runoff.audit': AuditTable;
}

export interface ExecutorTable {
  id: string;
  incarnation: string;
  role: string;
  facts: Json<Omit<ExecutorFacts, 'role'>>;
  started_at: number;
  seen: ColumnType<Date, Date | string, Date | string>;
}

export interface AnswerTable {
  scope: string;
  key: string;
  artifact: Json<ArtifactRef>;
}
