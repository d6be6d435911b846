import type { Stop } from '../debate/index.ts';
import type { GateName } from '../evidence/index.ts';
import {
  type Alias,
  type CandidateState,
  type Contestant,
  counted,
  type RunId,
  type RunState,
  STAGES,
  type Stage,
  type Usd,
} from '../model/index.ts';
import { type Picked, roundText, type Separator } from '../ranking/index.ts';
import type { FoundTool } from '../settings/index.ts';
import { MARKDOWN, type Markup } from './markup.ts';
import type { BaseStep, ExaminationStep, ReviewStep, RunView } from './view.ts';
import { visibleLine } from './visible.ts';

export { counted };

/** `0.4 s`, `42 s`, `3m 12s`, `1h 04m`; `–` for nothing. */
export function elapsed(ms: number): string {
  if (!Number.isFinite(ms) || ms <= 0) return '–';
  if (ms < 9_950) return `${(Math.max(ms, 50) / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${pad(seconds % 60)}s`;
  return `${Math.floor(minutes / 60)}h ${pad(minutes % 60)}m`;
}

const pad = (n: number): string => String(n).padStart(2, '0');

/** Dollars without the sign: two decimals, or four if two would show zero. */
export function dollars(usd: Usd): string {
  if (!Number.isFinite(usd) || usd <= 0) return '0.00';
  if (usd >= 0.01) return usd.toFixed(2);
  return usd < 0.0001 ? '0.0001' : usd.toFixed(4);
}

/** `$0.42`. At most one in a line of Markdown: GitHub may render text between two dollar signs as a formula. */
export const money = (usd: Usd): string => `$${dollars(usd)}`;

/** `$0.42` in Markdown, for a line that has a dollar sign already. */
export const escapedMoney = (usd: Usd): string => `<span>$</span>${dollars(usd)}`;

/** `812`, `12.3k`, `1.2M`. */
export function tokens(count: number): string {
  if (!Number.isFinite(count) || count <= 0) return '0';
  if (count < 1_000) return String(Math.round(count));
  if (count < 999_950) return `${(count / 1_000).toFixed(1)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

/** `+12 −3`. */
export const plusMinus = (change: { readonly additions: number; readonly deletions: number }): string =>
  `+${change.additions} −${change.deletions}`;

/** The first twelve digits: enough to identify a commit. */
export const shortSha = (sha: string): string => sha.slice(0, 12);

/** The branch of a candidate's commit on GitHub, e.g. `auto-dev/7/r7k2m9q4xa/B`. Contains no text of the issue. */
export const branchName = (issue: number, run: RunId, alias: Alias): string =>
  `auto-dev/${issue}/${run}/${alias}`;

/** The branch of a candidate's commit in a local repository, e.g. `runoff/r7k2m9q4xa/B`. */
export const localBranch = (run: RunId, alias: Alias): string => `runoff/${run}/${alias}`;

/** The branch created for a candidate; null if there is none (yet). */
export const branchOf = (view: RunView, alias: Alias): string | null => view.outcome?.branches[alias] ?? null;

/** The activity of a stage, after "stage 3 of 6:". */
const STAGE_LABELS = {
  admit: 'checking the request',
  brief: 'writing the brief',
  code: 'running the coders',
  examine: 'building and testing every candidate',
  judge: 'weighing the evidence',
  publish: 'publishing the result',
} as const satisfies Record<Stage, string>;

/** What decided, after "decided by". */
export const SEPARATOR_LABELS = {
  gates: 'the gates',
  regressions: 'base tests',
  objections: "a critic's test",
  fixed: 'failing base tests that it fixes',
  independent: 'independent tests',
  tests: 'new tests',
  behaviour: 'behaviour',
  agreement: 'agreement',
  judges: 'blind judges',
  vote: 'votes',
  score: 'patch score',
  metrics: 'metrics (tests, size, speed)',
  weights: 'the weighted mean of all scores',
  alike: 'nothing: the same change',
  types: 'type errors',
  tie: 'nothing: a tie',
} as const satisfies Record<Separator, string>;

/** Why a candidate failed a gate: a few words for a table. */
export const GATE_FAILURE_LABELS = {
  collected: 'left no usable patch',
  content: 'lacks the content asked for',
  safe: 'contains an unsafe file',
  scope: 'changes protected files',
  untampered: 'tampers with tests',
  parses: 'does not parse',
  builds: 'does not build',
  types: 'adds type errors',
  'tests-run': 'prevents the tests from running',
  steady: 'behaves otherwise elsewhere',
} as const satisfies Record<GateName, string>;

export const CANDIDATE_STATE_LABELS = {
  queued: 'waiting',
  coding: 'coding',
  coded: 'coded',
  examining: 'examining',
  examined: 'examined',
  failed: 'failed',
  cancelled: 'cancelled',
} as const satisfies Record<CandidateState, string>;

/** The stage that a run in this state is in or enters next; null when its work is finished. */
const STAGE_OF = {
  queued: 'admit',
  admitted: 'brief',
  awaiting_answer: 'brief',
  awaiting_approval: 'brief',
  refused: null,
  briefed: 'code',
  coded: 'examine',
  examined: 'judge',
  judged: 'publish',
  awaiting_pick: null,
  published: null,
  merged: null,
  closed: null,
  failed: null,
  cancelled: null,
} as const satisfies Record<RunState, Stage | null>;

export const stageOf = (view: RunView): Stage | null => STAGE_OF[view.state];

/** `1st`, `2nd`, `11th`. */
export function ordinal(n: number): string {
  const teen = n % 100 > 10 && n % 100 < 14;
  return `${n}${teen ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th')}`;
}

/** Why a run has not started yet, in one to three sentences; empty for a run that is not queued. */
export function queueText({ queue }: Pick<RunView, 'queue'>): string {
  if (!queue) return '';
  const { position, of, why } = queue;
  const where = position === 1 ? 'next in line' : `${ordinal(position)} of ${of} in line`;
  return `Queued, ${where}. It starts when a running one finishes.${why ? ` ${why}` : ''}`;
}

const TOOL_ORIGINS = {
  sandbox: 'in the sandbox',
  machine: 'of this machine',
  registry: 'from the package registry',
  repository: 'part of the repository',
  runoff: "Runoff's own",
} as const satisfies Record<FoundTool['from'], string>;

/** `Node 22.14.0 (from the package registry), uv 0.5.1 (in the sandbox)`. */
export const toolsText = (tools: readonly FoundTool[]): string =>
  tools.map(({ name, from }) => `${name} (${TOOL_ORIGINS[from]})`).join(', ');

/** The step on the base commit, before its command. */
export const BASE_STEP_LABELS = {
  checkout: 'preparing the checkout',
  lend: 'looking for installed packages in the work tree',
  'set-up': 'installing packages',
  build: 'building the base commit',
  types: 'checking the types of the base commit',
  tests: 'testing the base commit',
} as const satisfies Record<BaseStep['name'], string>;

/** The steps after the base commit, before their progress. */
const STEP_LABELS = {
  ...BASE_STEP_LABELS,
  candidates: 'building and testing every candidate',
  repeats: 'repeating failed tests',
  surroundings: 'testing survivors in other surroundings',
  mutants: "running the candidates' tests on mutants",
  probes: 'comparing the behaviour of candidates',
  'own-tests': "running the candidates' new tests on the base commit",
  'peer-tests': "running the candidates' new tests on each other",
  'written-tests': 'writing and trying tests by models',
  review: 'critics are reviewing the winner',
} as const satisfies Record<(BaseStep | ExaminationStep | ReviewStep)['name'], string>;

/** Maximum characters of a command next to its description. */
const MAX_STEP_COMMAND = 60;

/** The states in which a step may be under way. A candidate's machine may have to set up the base once more. */
const STEP_STATES: ReadonlySet<RunState> = new Set(['admitted', 'coded', 'judged']);

const currentStep = ({ state, checks }: RunView) => (STEP_STATES.has(state) ? checks?.step : undefined);

/**
 * `installing packages: npm ci`, or `comparing the behaviour of candidates, 2 of 5 done`; null if no step is under way.
 * `shown` formats a command for its context.
 */
function stepLabel(view: RunView, shown: (command: string, limit: number) => string): string | null {
  const step = currentStep(view);
  if (step === undefined) return null;
  const label = STEP_LABELS[step.name];
  if ('command' in step) return `${label}: ${shown(step.command, MAX_STEP_COMMAND)}`;
  return 'of' in step && step.of > 0 ? `${label}, ${step.done} of ${step.of} done` : label;
}

/** What is left of the examination's time, such as `at most 3m 10s left`; null if no part of it is under way. */
export function examinationTimeLeft(view: RunView): string | null {
  const step = currentStep(view);
  if (step === undefined || !('leftMs' in step)) return null;
  const left = step.leftMs - (view.now - step.since);
  return left > 0 ? `at most ${elapsed(left)} left` : 'time limit reached';
}

/** The time of the current step: what is left of the examination's, else `1m 12s` so far; null for none. */
export function stepTime(view: RunView): string | null {
  const step = currentStep(view);
  return step === undefined ? null : (examinationTimeLeft(view) ?? elapsed(view.now - step.since));
}

/**
 * A run's activity in its stage, after "stage 2 of 6:". Set-up and base tests take longer than the planner, and an
 * examination consists of many parts, so they are named.
 */
export function activityLabel(view: RunView, stage: Stage, to: Markup = MARKDOWN): string {
  const label = stepLabel(view, to.code);
  if (label === null) return plainActivity(view, stage);
  const left = examinationTimeLeft(view);
  return left === null ? label : `${label}, ${left}`;
}

function plainActivity(view: RunView, stage: Stage): string {
  if (view.queue) return `queued, ${ordinal(view.queue.position)} in line`;
  if (view.state === 'queued') return `queued, ${STAGE_LABELS[stage]}`;
  if (view.state === 'admitted') return `admitted, ${STAGE_LABELS[stage]}`;
  if (view.state === 'awaiting_answer') return 'waiting for an answer';
  if (view.state === 'awaiting_approval') return 'waiting for plan approval';
  return STAGE_LABELS[stage];
}

/** A run's progress for a terminal: its stage and activity, or how it ended. */
export function progressLabel(view: RunView): string {
  const stage = stageOf(view);
  if (stage === null) return view.state;
  return `${stageNumber(stage)}: ${stepLabel(view, visibleLine) ?? plainActivity(view, stage)}`;
}

export const stageNumber = (stage: Stage): string => `stage ${STAGES.indexOf(stage) + 1} of ${STAGES.length}`;

/** Maximum characters of an agent's name; a custom program's command line can be long. */
const MAX_PROGRAM_CHARACTERS = 60;

/** `builtin × anthropic/claude-sonnet-4-5 (careful)`. Names come from settings and must be escaped for Markdown. */
export const contestantName = (who: Contestant): string =>
  `${[who.agent, ...(who.argv ?? [])].join(' ').slice(0, MAX_PROGRAM_CHARACTERS)} × ${who.model} (${who.prompt}${who.seed ? `, seed ${who.seed}` : ''}${who.round ? `, ${roundText(who.round)}` : ''})`;

/**
 * Short names: only the parts of agent, model and prompt that distinguish these contestants, such as `codex`, `codex
 * gpt-6-sol` or `gpt-6-sol (careful)`. In input order.
 */
export function shortContestantNames(all: readonly Contestant[]): readonly string[] {
  const differs = (part: (who: Contestant) => string): boolean => new Set(all.map(part)).size > 1;
  const modelOf = ({ model }: Contestant): string => model.split('/').at(-1) || model;
  const agentOf = (who: Contestant): string =>
    [who.agent, ...(who.argv ?? [])].join(' ').slice(0, MAX_PROGRAM_CHARACTERS);
  const [agents, models] = [differs(agentOf), differs(modelOf)];
  const prompts = differs(({ prompt }) => prompt) || !(agents || models);
  return all.map((who) =>
    [
      ...(agents ? [agentOf(who)] : []),
      ...(models || !agents ? [modelOf(who)] : []),
      ...(prompts ? [`(${who.prompt})`] : []),
    ].join(' '),
  );
}

/** `LIKELY, decided by peer tests`. */
export function decisionLabel(decision: Picked): string {
  const by = SEPARATOR_LABELS[decision.decidedBy];
  if (decision.kind === 'winner') return `${decision.confidence.toUpperCase()}, decided by ${by}`;
  const among = decision.among.length > 1 ? ` between ${decision.among.join(', ')}` : '';
  return decision.decidedBy === 'tie'
    ? `TOSS-UP${among}, which are tied: please choose`
    : `TOSS-UP${among}: please choose; ranked first by ${by}`;
}

/** How a debate ended. */
export const DEBATE_STOP_LABELS = {
  consensus: 'consensus',
  rounds: 'no consensus',
  repeated: 'no consensus, no new arguments',
  budget: 'stopped at its budget limit',
  growth: 'stopped because the brief grew too long',
  failed: 'failed',
} as const satisfies Record<Stop, string>;
