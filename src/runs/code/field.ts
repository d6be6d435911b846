import { shiftedCalibration } from '../../core/learning/index.ts';
import type { Candidate, Contestant, Expectation, FieldEnd, Task, Usd } from '../../core/model/index.ts';
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

/** The contestants in the order in which they start. */
function fieldOf(world: FieldPorts, { settings, learned }: Task): readonly Contestant[] {
  const field = contestantsOf(world, settings);
  return learned?.order?.flatMap((at) => field[at] ?? []) ?? field;
}

/** The contestants that start at once: all of them, or the first of a sequential field. */
export function firstContestants(
  world: FieldPorts,
  run: Pick<RunRecord, 'checks'>,
  task: Task,
): readonly Contestant[] {
  const field = fieldOf(world, task);
  if (!task.learned?.sequence) return field;
  return field.slice(0, firstInSequence(task.settings, run.checks?.base ?? null));
}

/** What follows from an examination for a sequential field. `because` is one sentence. */
export type FieldStep =
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
  if (!task.learned?.sequence) return null;
  const { settings } = task;
  const { started, pending, of } = turnsOf(world, task, examined);
  const calibration = shiftedCalibration(task.learned?.confidence);
  const ranking = rank(evidence, { ...rankingOptionsOf(settings), calibration });
  const step = nextInSequence({
    evidence,
    decision: decide(ranking, evidence, { calibration }),
    written: independentTests,
    started: started.filter(({ usage }) => usage.calls > 0).map(spentTurn),
    pending: pending.map(({ expectation }) => expectation),
    budget: settings.budget,
    remainingUsd,
    isTimeShort,
  });
  const [next] = pending;
  if (step.kind === 'next' && next) return { ...step, kind: 'next', contestant: next.contestant };
  const { because } = step;
  const savedUsd = step.kind === 'stop' ? step.savedUsd : null;
  return { kind: 'stop', started: started.length, of, because, savedUsd };
}

const spentTurn = ({
  usage,
  expectation,
}: Pick<Candidate, 'usage'> & { expectation: Expectation }): SpentTurn => ({
  expectedUsd: expectation.usd,
  usd: usage.usd,
});

interface Turns {
  readonly started: readonly (Pick<Candidate, 'usage'> & { readonly expectation: Expectation })[];
  readonly pending: readonly { readonly contestant: Contestant; readonly expectation: Expectation }[];
  readonly of: number;
}

const UNKNOWN: Expectation = { wins: 0, usd: null };

/** A retry takes over candidates of an earlier run, whose order may have been another one: who they are counts. */
function turnsOf(world: FieldPorts, task: Task, examined: readonly Candidate[]): Turns {
  const field = fieldOf(world, task);
  const left = examined.filter(({ contestant }) => contestant.round === undefined);
  const started: Turns['started'][number][] = [];
  const pending: Turns['pending'][number][] = [];
  for (const [i, contestant] of field.entries()) {
    const expectation = task.learned?.sequence?.[i] ?? UNKNOWN;
    const at = left.findIndex((one) => contestantText(one.contestant) === contestantText(contestant));
    const [found] = at < 0 ? [] : left.splice(at, 1);
    if (found) started.push({ usage: found.usage, expectation });
    else pending.push({ contestant, expectation });
  }
  return { started, pending, of: field.length };
}

const contestantText = ({ agent, model, prompt, argv, seed }: Contestant): string =>
  JSON.stringify([agent, model, prompt, argv ?? null, seed ?? 0]);
