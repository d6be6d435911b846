import { counted } from '../model/index.ts';
import { NO_AGENT } from './contest.ts';
import { isAskedOnce } from './pairs.ts';
import type { BaseResult, Sample } from './records.ts';
import { isBroken } from './verification.ts';
import {
  type ResolvedContest,
  type ResolvedContestant,
  type ResolvedTask,
  type Sha256,
  sampleId,
} from './versions.ts';

/** One sample to be made. */
export interface PlannedSample {
  readonly id: string;
  readonly task: ResolvedTask;
  readonly contestant: ResolvedContestant;
  readonly round: number;
  readonly seed: number;
}

interface SamplePlan {
  /** In order of rounds, then tasks, then contestants: whoever stops early has compared everybody. */
  readonly missing: readonly PlannedSample[];
  /** Samples of this version that exist. */
  readonly done: number;
  /** What is not asked, and why: one sentence each. */
  readonly notes: readonly string[];
}

/** Which samples a version of a contest lacks. */
export function planSamples(
  contest: ResolvedContest,
  digest: string,
  found: { readonly samples: readonly Sample[]; readonly bases: readonly BaseResult[] },
  sha256: Sha256,
): SamplePlan {
  const have = new Set(found.samples.filter((one) => one.contest === digest).map(({ id }) => id));
  const broken = new Set(
    found.bases.filter((one) => one.contest === digest && isBroken(one)).map(({ task }) => task),
  );
  const all: PlannedSample[] = [];
  for (let round = 1; round <= contest.rounds; round += 1) {
    for (const task of contest.tasks) {
      for (const contestant of contest.contestants) {
        if (!isAsked(contest, task, contestant, round) || broken.has(task.id)) continue;
        const id = sampleId({ contest: digest, task: task.id, contestant: contestant.id, round }, sha256);
        all.push({ id, task, contestant, round, seed: contest.seed + round - 1 });
      }
    }
  }
  const missing = all.filter(({ id }) => !have.has(id));
  return { missing, done: all.length - missing.length, notes: notesOn(contest) };
}

/** Whether a contestant is asked for a task in a round. */
export function isAsked(
  contest: Pick<ResolvedContest, 'temperature'>,
  { kind }: Pick<ResolvedTask, 'kind'>,
  { agent }: Pick<ResolvedContestant, 'agent'>,
  round: number,
): boolean {
  if (agent !== NO_AGENT) return kind === 'repo';
  return round === 1 || !isAskedOnce(contest, agent);
}

function notesOn({ contestants, tasks, temperature, rounds }: ResolvedContest): readonly string[] {
  const agents = contestants.filter(({ agent }) => agent !== NO_AGENT).length;
  const texts = tasks.filter(({ kind }) => kind === 'text').length;
  return [
    ...(agents > 0 && texts > 0
      ? [
          `${counted(agents, 'contestant is an agent and does', 'contestants are agents and do')} not answer the ${counted(texts, 'text task')}: agents work on repositories.`,
        ]
      : []),
    ...(temperature === 0 && rounds > 1 && agents < contestants.length
      ? [
          'At temperature 0 a plain call gives the same answer again, so it is made once and not in every round. Set `temperature` to compare several answers.',
        ]
      : []),
  ];
}

/**
 * Everything that is asked, as one text: samples with the same SHA-256 of it at temperature 0 share one paid answer,
 * also across versions of a contest. What the answer is verified by is not part of it.
 */
export const askedIdentity = (
  { temperature, repair, limits }: ResolvedContest,
  { contestant, seed }: Pick<PlannedSample, 'contestant' | 'seed'>,
  asked: readonly string[],
): string =>
  JSON.stringify([
    [contestant.agent, contestant.model, contestant.instructions, contestant.argv ?? null],
    [temperature, temperature === 0 ? null : seed, repair, limits.tokens],
    asked,
  ]);

/** The sample whose paid answer is used again: only of plain calls at temperature 0. */
export const reusable = (samples: readonly Sample[], question: string): Sample | undefined =>
  samples.find(
    (one) =>
      one.question === question &&
      one.agent === NO_AGENT &&
      one.parameters.temperature === 0 &&
      one.reusedFrom === null &&
      one.outcome !== 'failed',
  );
