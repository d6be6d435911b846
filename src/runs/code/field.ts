import { shiftedCalibration } from '../../core/learning/index.ts';
import type {
  Candidate,
  Contestant,
  Expectation,
  FieldEnd,
  Task,
  Usage,
  Usd,
} from '../../core/model/index.ts';
import {
  decide,
  firstInSequence,
  nextInSequence,
  rank,
  rankingOptionsOf,
  type SpentTurn,
} from '../../core/ranking/index.ts';
import type { RunRecord } from '../../ports/index.ts';
import { contestantsOf } from '../contestants.ts';
import type { World } from '../context.ts';

type FieldPorts = Pick<World, 'coders' | 'defaults' | 'gateway' | 'prompts'>;

/** A contestant of a sequential field, and what is known about it. */
interface Turn extends Expectation {
  readonly contestant: Contestant;
}

/** In the order in which they start; null if all start at once. */
function turnsOf(world: FieldPorts, { settings, learned }: Task): readonly Turn[] | null {
  if (!learned?.sequence) return null;
  const field = contestantsOf(world, settings);
  // The settings of the task are frozen together with the positions in them.
  return learned.sequence.map(({ position, ...known }) => ({
    ...known,
    contestant: field[position] as Contestant,
  }));
}

/** The contestants that start at once: all of them, or the first of a sequential field. */
export function firstContestants(
  world: FieldPorts,
  run: Pick<RunRecord, 'checks'>,
  task: Task,
): readonly Contestant[] {
  const turns = turnsOf(world, task);
  if (!turns) return contestantsOf(world, task.settings);
  const first = firstInSequence(task.settings, run.checks?.base ?? null);
  return turns.slice(0, first).map(({ contestant }) => contestant);
}

/** What follows from an examination for a sequential field. `because` is one sentence. */
type FieldStep =
  | { readonly kind: 'next'; readonly contestant: Contestant; readonly because: string }
  | ({ readonly kind: 'stop' } & FieldEnd);

interface Examined {
  readonly examined: readonly Candidate[];
  readonly remainingUsd: Usd | null;
  /** The run has less time left than one more candidate and its examination may take. */
  readonly isTimeShort: boolean;
}

/** Whether the next contestant starts. Null if all started at once. */
export function stepOfField(
  world: FieldPorts,
  { evidence = [], independentTests }: Pick<RunRecord, 'evidence' | 'independentTests'>,
  task: Task,
  { examined, remainingUsd, isTimeShort }: Examined,
): FieldStep | null {
  const turns = turnsOf(world, task);
  if (!turns) return null;
  const { settings } = task;
  const { started, pending } = dividedTurns(turns, examined);
  const calibration = shiftedCalibration(task.learned?.confidence);
  const ranking = rank(evidence, { ...rankingOptionsOf(settings), calibration });
  const step = nextInSequence({
    evidence,
    decision: decide(ranking, evidence, { calibration }),
    written: independentTests,
    started: started.filter(({ calls }) => calls > 0),
    pending,
    budget: settings.budget,
    remainingUsd,
    isTimeShort,
  });
  return step.kind === 'next'
    ? { kind: 'next', contestant: step.next.contestant, because: step.because }
    : { ...step, started: started.length, of: turns.length };
}

interface DividedTurns {
  readonly started: readonly (SpentTurn & Pick<Usage, 'calls'>)[];
  readonly pending: readonly Turn[];
}

/** A retry takes over candidates of an earlier run, whose order may have been another one: who they are counts. */
function dividedTurns(turns: readonly Turn[], examined: readonly Candidate[]): DividedTurns {
  const left = examined.filter(({ contestant }) => contestant.round === undefined);
  const started: DividedTurns['started'][number][] = [];
  const pending: Turn[] = [];
  for (const turn of turns) {
    const at = left.findIndex((one) => contestantText(one.contestant) === contestantText(turn.contestant));
    const [found] = at < 0 ? [] : left.splice(at, 1);
    if (found) started.push({ expectedUsd: turn.usd, usd: found.usage.usd, calls: found.usage.calls });
    else pending.push(turn);
  }
  return { started, pending };
}

const contestantText = ({ agent, model, prompt, argv, seed }: Contestant): string =>
  JSON.stringify([agent, model, prompt, argv ?? null, seed ?? 0]);
