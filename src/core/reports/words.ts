import { roundWords } from '../adaptive/index.ts';
import type { Stop } from '../debate/index.ts';
import type { Picked } from '../decision/index.ts';
import type { GateName } from '../evidence/index.ts';
import type { CandidateState, Contestant, RunState, Stage } from '../model/index.ts';
import { STAGES } from '../model/index.ts';
import type { Separator } from '../ranking/index.ts';
import type { RunView } from './view.ts';

/** What is going on in a stage, after "stage 3 of 6:". */
export const STAGE_WORDS = {
  admit: 'checking the request',
  brief: 'writing the brief',
  code: 'coders at work',
  examine: 'building and testing every candidate',
  judge: 'weighing the evidence',
  publish: 'publishing the result',
} as const satisfies Record<Stage, string>;

/** What decided, after "decided by". */
export const SEPARATOR_WORDS = {
  gates: 'the gates',
  regressions: 'base tests',
  objections: "a critic's test",
  tests: 'new tests',
  behaviour: 'behaviour',
  agreement: 'agreement',
  judges: 'blind judges',
  vote: 'votes',
  score: 'form of the patch',
  metrics: 'metrics (tests, size, speed)',
  hash: 'the last tie (patch hash)',
} as const satisfies Record<Separator, string>;

/** What a candidate did that failed a gate: a few words for a table. */
export const GATE_WORDS = {
  collected: 'left no usable patch',
  content: 'changes nothing that counts',
  safe: 'holds an unsafe entry',
  scope: 'changes protected files',
  untampered: 'tampers with tests',
  parses: 'does not parse',
  builds: 'does not build',
  'tests-run': 'keeps the tests from running',
} as const satisfies Record<GateName, string>;

export const CANDIDATE_WORDS = {
  queued: 'waiting',
  coding: 'coding',
  coded: 'coded',
  examining: 'examining',
  examined: 'examined',
  failed: 'failed',
  cancelled: 'cancelled',
} as const satisfies Record<CandidateState, string>;

/** Stage that a run in this state is in or enters next; null when its own work is over. */
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
export function nth(n: number): string {
  const teen = n % 100 > 10 && n % 100 < 14;
  return `${n}${teen ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th')}`;
}

/** Why a run has not begun, a sentence or two; empty where it does not wait for a place. */
export function lineWords({ line }: Pick<RunView, 'line'>): string {
  if (!line) return '';
  const ahead = line.place === 1 ? 'It is the next one' : `${nth(line.place)} of ${line.of} in line`;
  return `Waits for a place: ${ahead}; runs that are at work come to their end first.${line.why ? ` ${line.why}` : ''}`;
}

/** What a run does in its stage, after "stage 2 of 6:". */
export function doingWords(view: RunView, stage: Stage): string {
  if (view.line) return `${nth(view.line.place)} in line`;
  if (view.state === 'queued') return `queued, ${STAGE_WORDS[stage]}`;
  if (view.state === 'admitted') return `admitted, ${STAGE_WORDS[stage]}`;
  if (view.state === 'awaiting_answer') return 'waiting for an answer';
  if (view.state === 'awaiting_approval') return 'waiting for an approval of its plan';
  return STAGE_WORDS[stage];
}
/** Where a run stands: its stage and what it does there, or how it ended. */
export function standsWords(view: RunView): string {
  const stage = stageOf(view);
  return stage === null ? view.state : `${stageNumber(stage)}: ${doingWords(view, stage)}`;
}
export const stageNumber = (stage: Stage): string => `stage ${STAGES.indexOf(stage) + 1} of ${STAGES.length}`;

/** Characters of an agent's name; a program's own words can be many. */
const MOST_OF_A_PROGRAM = 60;

/** `builtin × anthropic/claude-sonnet-4-5 (careful)`. Names come from settings: not yet fit for Markdown. */
export const contestantName = (who: Contestant): string =>
  `${[who.agent, ...(who.argv ?? [])].join(' ').slice(0, MOST_OF_A_PROGRAM)} × ${who.model} (${who.prompt}${who.seed ? `, seed ${who.seed}` : ''}${who.round ? `, ${roundWords(who.round)}` : ''})`;

/**
 * Names for where the whole ones have no room: of agent, model and prompt what tells these contestants apart, such as
 * `codex`, `codex gpt-6-sol` or `gpt-6-sol (careful)`. In the order given.
 */
export function shortContestantNames(all: readonly Contestant[]): readonly string[] {
  const differs = (part: (who: Contestant) => string): boolean => new Set(all.map(part)).size > 1;
  const modelOf = ({ model }: Contestant): string => model.split('/').at(-1) || model;
  const agentOf = (who: Contestant): string =>
    [who.agent, ...(who.argv ?? [])].join(' ').slice(0, MOST_OF_A_PROGRAM);
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
export function verdictWords(decision: Picked): string {
  const by = SEPARATOR_WORDS[decision.decidedBy];
  if (decision.kind === 'winner') return `${decision.confidence.toUpperCase()}, decided by ${by}`;
  const among = decision.among.length > 1 ? ` between ${decision.among.join(', ')}` : '';
  return `TOSS-UP${among}: a person should pick; first by ${by}`;
}

/** How a debate ended. */
export const STOP_WORDS = {
  consensus: 'consensus',
  rounds: 'no consensus',
  repeated: 'no consensus, nothing new was said',
  budget: 'stopped by its budget',
  growth: 'stopped, the brief would have swollen',
  failed: 'failed',
} as const satisfies Record<Stop, string>;
