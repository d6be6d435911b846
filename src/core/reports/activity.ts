import type { RunState, Stage } from '../model/index.ts';
import { elapsed, ordinal, stageNumber, stageOf } from './format.ts';
import { MARKDOWN, type Markup } from './markup.ts';
import type { ActivityStep, BaseStep, RunView } from './view.ts';
import { visibleLine } from './visible.ts';

/** The activity of a stage, after "stage 3 of 6:". */
const STAGE_LABELS = {
  admit: 'checking the request',
  brief: 'writing the brief',
  code: 'running the coders',
  examine: 'building and testing every candidate',
  judge: 'weighing the evidence',
  publish: 'publishing the result',
} as const satisfies Record<Stage, string>;

/** The step on the base commit, before its command. */
const BASE_STEP_LABELS = {
  checkout: 'preparing the checkout',
  lend: 'looking for installed packages in the working tree',
  'set-up': 'installing packages',
  build: 'building the base commit',
  types: 'checking the types of the base commit',
  tests: 'testing the base commit',
} as const satisfies Record<BaseStep['name'], string>;

/** All steps: before the command of one on the base commit, and before the progress of others. */
export const STEP_LABELS = {
  ...BASE_STEP_LABELS,
  candidates: 'building and testing every candidate',
  repeats: 'repeating failed tests',
  surroundings: 'testing in a second environment',
  mutants: "running the candidates' tests on mutants",
  probes: 'comparing the behaviour of candidates',
  'own-tests': "running the candidates' new tests on the base commit",
  'peer-tests': "running the candidates' new tests on each other",
  'written-tests': 'writing and trying tests by models',
  review: 'critics are reviewing the winner',
} as const satisfies Record<ActivityStep['name'], string>;

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
  return 'of' in step && step.of !== null ? `${label}, ${step.done} of ${step.of} done` : label;
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
