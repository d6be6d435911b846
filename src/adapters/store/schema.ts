import type { ColumnType, Generated } from 'kysely';
import type { NewReply } from '../../core/brief/index.ts';
import type { CandidateOutcome, MergeFacts } from '../../core/learning/index.ts';
import type {
  ArtifactRef,
  Brief,
  Candidate,
  Contestant,
  Origin,
  Task,
  Usage,
} from '../../core/model/index.ts';
import type { ApiToken } from '../../core/tokens/index.ts';
import type {
  AuditEntry,
  CommandOutcome,
  ExecutorFacts,
  KeptAnswer,
  KeptApiAnswer,
  NewCommand,
  PickRecord,
  RunRecord,
  Vote,
} from '../../ports/index.ts';

/** A jsonb column: read as a value, written as JSON text. */
type JsonColumn<T> = ColumnType<T, string, string>;
type OptionalJsonColumn<T> = ColumnType<T | null, string | null | undefined, string | null>;

export interface RunTable {
  id: string;
  origin: JsonColumn<Origin>;
  repository_id: number | null;
  issue: number | null;
  state: string;
  title: string;
  request: JsonColumn<unknown>;
  created_at: number;
  updated_at: number;
  task: OptionalJsonColumn<Task>;
  brief: OptionalJsonColumn<Brief>;
  debate: OptionalJsonColumn<NonNullable<RunRecord['debate']>>;
  dialogue: OptionalJsonColumn<NonNullable<RunRecord['dialogue']>>;
  evidence: OptionalJsonColumn<NonNullable<RunRecord['evidence']>>;
  field_end: OptionalJsonColumn<NonNullable<RunRecord['fieldEnd']>>;
  ranking: OptionalJsonColumn<NonNullable<RunRecord['ranking']>>;
  independent_tests: OptionalJsonColumn<NonNullable<RunRecord['independentTests']>>;
  test_results: OptionalJsonColumn<NonNullable<RunRecord['testResults']>>;
  judgement: OptionalJsonColumn<NonNullable<RunRecord['judgement']>>;
  decision: OptionalJsonColumn<NonNullable<RunRecord['decision']>>;
  review: OptionalJsonColumn<NonNullable<RunRecord['review']>>;
  outcome: OptionalJsonColumn<NonNullable<RunRecord['outcome']>>;
  trouble: OptionalJsonColumn<NonNullable<RunRecord['trouble']>>;
  checks: OptionalJsonColumn<NonNullable<RunRecord['checks']>>;
  sandbox: OptionalJsonColumn<NonNullable<RunRecord['sandbox']>>;
  /** When the outcomes of its candidates were kept, also if there were none. */
  outcomes_at: ColumnType<number | null, undefined, number>;
  queue_entry: OptionalJsonColumn<NonNullable<RunRecord['queueEntry']>>;
}

export interface CandidateTable {
  run_id: string;
  alias: string;
  ordinal: number;
  contestant: JsonColumn<Contestant>;
  state: string;
  patch: OptionalJsonColumn<NonNullable<Candidate['patch']>>;
  usage: JsonColumn<Usage>;
  ms: number;
  note: string;
  coder_version: string | null;
}

export interface CoderStepTable {
  run_id: string;
  alias: string;
  number: number;
  at: number;
  kind: string;
  text: string;
  detail: string | null;
  call: string | null;
  exit_code: number | null;
  ok: boolean | null;
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

interface DeliveryTable {
  id: string;
  event: string;
  semantic_key: string;
  run_id: string;
  at: number;
}

interface IntentTable {
  /** The id of a run, or of a command that concerns no run. */
  scope: string;
  key: string;
  state: 'planned' | 'done';
  result: OptionalJsonColumn<unknown>;
}

interface ReplyTable {
  run_id: string;
  number: number;
  key: string;
  reply: JsonColumn<NewReply>;
}

export interface CommandTable {
  id: string;
  repository_id: number;
  comment: number;
  at: number;
  payload: JsonColumn<NewCommand>;
  outcome: OptionalJsonColumn<CommandOutcome>;
  run_id: string | null;
  settled_at: number | null;
}

interface VoteTable {
  run_id: string;
  user_id: number;
  vote: JsonColumn<Vote>;
  at: number;
}

export interface PickTable {
  run_id: string;
  number: number;
  key: string;
  pick: JsonColumn<Omit<PickRecord, 'number'>>;
}

interface ModelAnswerTable {
  run_id: string;
  spender: string;
  question: string;
  number: number;
  answer: JsonColumn<{ status: number; headers: KeptAnswer['headers'] }>;
  body: JsonColumn<ArtifactRef>;
  at: number;
}

interface AuditTable {
  id: Generated<number>;
  at: number;
  kind: string;
  repository_id: number | null;
  run_id: string | null;
  entry: JsonColumn<AuditEntry>;
}

interface RecipeTable {
  repository: string;
  key: string;
  recipe: JsonColumn<unknown>;
  used_at: number;
}

interface CandidateOutcomeTable {
  run_id: string;
  alias: string;
  repository: string;
  at: number;
  outcome: JsonColumn<CandidateOutcome>;
  merge: OptionalJsonColumn<MergeFacts>;
  kept_at: number;
}

export interface ApiTokenTable {
  id: string;
  /** SHA-256 of its text, base64url. */
  hash: string;
  user_id: number;
  token: JsonColumn<Pick<ApiToken, 'by' | 'name' | 'repositories' | 'verbs'>>;
  created_at: number;
  expires_at: number;
  last_used_at: number | null;
  revoked_at: number | null;
}

interface IdempotencyKeyTable {
  owner: string;
  key: string;
  request: string;
  work: string;
  /** The process that works on it; null if nobody does. */
  holder: string | null;
  answer: OptionalJsonColumn<KeptApiAnswer>;
  at: number;
}

/** The tables of `migrations/`, as of the last step. */
export interface Schema {
  'runoff.run': RunTable;
  'runoff.candidate': CandidateTable;
  'runoff.coder_step': CoderStepTable;
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
  'runoff.recipe': RecipeTable;
  'runoff.candidate_outcome': CandidateOutcomeTable;
  'runoff.api_token': ApiTokenTable;
  'runoff.idempotency_key': IdempotencyKeyTable;
  'runoff.session': SessionTable;
}

export interface SessionTable {
  hash: string;
  user_id: number;
  login: string;
  created_at: number;
  expires_at: number;
}

interface ExecutorTable {
  id: string;
  incarnation: string;
  role: string;
  facts: JsonColumn<Omit<ExecutorFacts, 'role'>>;
  started_at: number;
  seen: ColumnType<Date, Date | string, Date | string>;
}

interface AnswerTable {
  scope: string;
  key: string;
  artifact: JsonColumn<ArtifactRef>;
  at: Generated<number>;
}
