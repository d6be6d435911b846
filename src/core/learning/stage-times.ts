import { STAGES, type Stage, type StageTimes } from '../model/index.ts';

/** Runs below which no time is expected. Our default: one long set-up among two would mislead. */
const FEWEST_RUNS = 3;

interface Marks {
  readonly stage: Stage;
  readonly startedAt: number;
  readonly endedAt?: number;
}

/** What each stage usually takes, from the marks of runs that went through all of them; null for too few. */
export function stageTimes(runs: readonly (readonly Marks[])[]): StageTimes | null {
  const whole = runs.flatMap((marks) => durations(marks) ?? []);
  if (whole.length < FEWEST_RUNS) return null;
  const ms = Object.fromEntries(
    STAGES.map((stage) => [stage, median(whole.map((one) => one[stage]))]),
  ) as Record<Stage, number>;
  return { runs: whole.length, ms };
}

/** Up to the start of the next stage: the base commit may take longer than the planner beside it. */
function durations(marks: readonly Marks[]): Record<Stage, number> | null {
  const found = STAGES.map((stage) => marks.find((one) => one.stage === stage));
  const took = found.map((mark, at) => {
    const end = found[at + 1]?.startedAt ?? (at === STAGES.length - 1 ? mark?.endedAt : undefined);
    return mark === undefined || end === undefined ? null : end - mark.startedAt;
  });
  if (took.some((ms) => ms === null || ms < 0)) return null;
  return Object.fromEntries(STAGES.map((stage, at) => [stage, took[at]])) as Record<Stage, number>;
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const [low = 0, high = 0] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return Math.round((low + high) / 2);
}

/** Milliseconds that a run in this stage probably still takes; null once the stage has taken longer than usual. */
export function expectedLeft(
  times: StageTimes,
  now: { readonly stage: Stage; readonly inStageMs: number },
): number | null {
  const rest = times.ms[now.stage] - now.inStageMs;
  if (rest < 0) return null;
  const later = STAGES.slice(STAGES.indexOf(now.stage) + 1).reduce((sum, one) => sum + times.ms[one], 0);
  return rest + later;
}
