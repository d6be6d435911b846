import type { Evidence, Language } from '../evidence/index.ts';
import {
  type Alias,
  byCodeUnits,
  type Candidate,
  type FurtherKind,
  type RunId,
  type RunState,
  type Usd,
} from '../model/index.ts';
import { chosenOf, type Decision, pickOf } from '../ranking/index.ts';
import type { MergedPull } from './reverts.ts';
import { type ChangeSize, changeSize, type WorkKind } from './work-kind.ts';

/** The pull request of a run, as far as it tells whether the candidate that it showed was right. */
interface PullEnding {
  readonly state: 'open' | 'merged' | 'closed';
  /** Lines that people changed in the candidate's files before the merge, as a share of the candidate's; null: unknown. */
  readonly edited: number | null;
  /** When its revert was committed to the default branch, milliseconds since 1970 UTC; null: it was not, as far as is known. */
  readonly revertedAt: number | null;
  /** What was merged; absent until it has been looked at. */
  readonly merged?: MergedPull;
}

/**
 * What became of one candidate. Names, numbers and classes only, no code and no text of an issue: it is kept when its
 * run is deleted.
 */
export interface CandidateOutcome {
  readonly runId: RunId;
  readonly alias: Alias;
  /** Key of the repository, e.g. `github-42`. */
  readonly repository: string;
  /** For people: `acme/shop` as it was called then, or a local path. */
  readonly repositoryName: string;
  /** When the run was created, milliseconds since 1970 UTC. */
  readonly at: number;
  /** With the program's name for an agent that runs any program. */
  readonly agent: string;
  readonly model: string;
  readonly prompt: string;
  /** Null: it competed from the start. */
  readonly round: FurtherKind | null;
  readonly kind: WorkKind;
  readonly language: Language | null;
  readonly size: ChangeSize | null;
  /** Passed every gate. */
  readonly survived: boolean;
  /** Base tests that it breaks. */
  readonly regressions: number;
  /** The first letter among the candidates with the same change. */
  readonly change: Alias;
  /** How sure Runoff was, if it put this change first; null otherwise. */
  readonly first: 'clear' | 'likely' | 'toss-up' | null;
  /** The chance that the shipped curve gives Runoff's first, in [0, 1]; null if there was none. */
  readonly chance: number | null;
  /** What a person picked: this change, another, or none; null if nobody picked. */
  readonly pick: 'this' | 'other' | 'none' | null;
  /** The pull request shows this change, or showed it last. */
  readonly shown: boolean;
  /** The run's pull request; null if it has none. */
  readonly pull: PullEnding | null;
  readonly usd: Usd;
  /** Wall time of the coder, milliseconds. */
  readonly ms: number;
}

/** What is known about a merge beside the run's own record. */
export type MergeFacts = Required<Omit<PullEnding, 'state'>>;

interface JudgedRun {
  readonly id: RunId;
  readonly createdAt: number;
  readonly state: RunState;
  readonly repository: string;
  readonly repositoryName: string;
  readonly kind: WorkKind;
  readonly candidates: readonly Candidate[];
  readonly evidence: readonly Evidence[];
  readonly decision: Decision;
  /** What the shipped curve decides from the same evidence. */
  readonly shipped: Decision;
  /** People's picks that count, in order. */
  readonly picks: readonly { readonly alias: Alias | null }[];
  /** Whether it opened a pull request. */
  readonly hasPull: boolean;
  readonly languages: Readonly<Record<Alias, Language | null>>;
  /** Candidates taken over from an earlier run, which counts them. */
  readonly takenOver: ReadonlySet<Alias>;
}

/**
 * The outcomes of a judged run, one for each candidate that had its chance: without those that were cancelled or
 * stopped early, and those that an earlier run counts.
 */
export function outcomesOf(run: JudgedRun): readonly CandidateOutcome[] {
  const { decision, shipped, picks } = run;
  const changeOf = (alias: Alias): Alias =>
    [alias, ...(run.evidence.find((one) => one.alias === alias)?.alike ?? [])].toSorted()[0] as Alias;
  const isSame = (one: Alias, other: Alias | null): boolean =>
    other !== null && changeOf(one) === changeOf(other);
  const last = picks.at(-1);
  const pickFor = (alias: Alias): CandidateOutcome['pick'] => {
    if (!last) return null;
    if (last.alias === null) return 'none';
    return isSame(alias, last.alias) ? 'this' : 'other';
  };
  const shown = run.hasPull
    ? chosenOf({ decision, picks: picks.filter(({ alias }) => alias !== null) })
    : null;
  return run.candidates
    .filter(({ state, alias }) => state !== 'cancelled' && !run.takenOver.has(alias))
    .map((candidate): CandidateOutcome => {
      const { alias, contestant } = candidate;
      const found = run.evidence.find((one) => one.alias === alias);
      return {
        runId: run.id,
        alias,
        repository: run.repository,
        repositoryName: run.repositoryName,
        at: run.createdAt,
        agent: agentName(contestant),
        model: contestant.model,
        prompt: contestant.prompt,
        round: contestant.round?.kind ?? null,
        kind: run.kind,
        language: run.languages[alias] ?? null,
        size: candidate.patch && found ? changeSize(found.productionLines) : null,
        survived: found?.survivor ?? false,
        regressions: found?.baseTests?.regressions.length ?? 0,
        change: changeOf(alias),
        first: isSame(alias, pickOf(decision)) ? firstAs(decision) : null,
        chance: shipped.kind === 'none' ? null : shipped.chance,
        pick: pickFor(alias),
        shown: isSame(alias, shown),
        pull: run.hasPull ? { state: pullStateOf(run.state), edited: null, revertedAt: null } : null,
        usd: candidate.usage.usd,
        ms: candidate.ms,
      };
    });
}

/** The program of an agent that runs any program is part of its name; its arguments and folder are not. */
export const agentName = ({
  agent,
  argv,
}: {
  readonly agent: string;
  readonly argv?: readonly string[];
}): string => (argv?.[0] === undefined ? agent : `${agent}:${argv[0].split('/').at(-1)}`);

const firstAs = (decision: Decision): CandidateOutcome['first'] => {
  if (decision.kind === 'none') return null;
  return decision.kind === 'winner' ? decision.confidence : 'toss-up';
};

const pullStateOf = (state: RunState): PullEnding['state'] =>
  state === 'merged' || state === 'closed' ? state : 'open';

/** Names a contestant whatever its seed. */
export const contestantKey = ({
  agent,
  model,
  prompt,
}: Pick<CandidateOutcome, 'agent' | 'model' | 'prompt'>): string => JSON.stringify([agent, model, prompt]);

/**
 * How far a candidate won its run, in [0, 1]; null if nothing tells. People's word counts before Runoff's: what they
 * merged is worth the share that they left unchanged, and nothing once it is reverted. Without their word Runoff's
 * first counts as much as its chance.
 */
export function creditOf(outcome: CandidateOutcome): number | null {
  const { survived, regressions, pull, shown, pick, first, chance } = outcome;
  const kept = mergeCredit(pull);
  if (kept !== null && shown) return kept;
  if (!survived || regressions > 0) return 0;
  // What was merged instead tells of the others only if it was mostly right.
  if (kept !== null) return kept >= MOSTLY_RIGHT ? 0 : null;
  if (pull?.state === 'closed') return shown ? 0 : null;
  if (pick !== null) return pick === 'this' ? 1 : 0;
  if (first !== null) return chance ?? 0;
  // The others of a toss-up were not told from its first.
  return chance === null || chance < UNDECIDED ? null : 0;
}

/** The share of a merge that people kept; null without a merge. */
const mergeCredit = (pull: PullEnding | null): number | null => {
  if (pull?.state !== 'merged') return null;
  return pull.revertedAt === null ? 1 - (pull.edited ?? 0) : 0;
};

/** From this credit on a run counts as won in whole numbers, and a merge as right. */
export const MOSTLY_RIGHT = 0.5;

/** Below this chance Runoff asks a person: `CALIBRATION.likely`. */
const UNDECIDED = 0.5;

/** Whether a candidate counts for its contestant: repairs and merges start from patches of others. */
export const isOwnWork = ({ round }: Pick<CandidateOutcome, 'round'>): boolean =>
  round === null || round === 'one-more';

/** One contestant in one run. */
export interface Trial {
  /** Its own candidates of the run, by letter; mostly one. */
  readonly candidates: readonly [CandidateOutcome, ...CandidateOutcome[]];
  /** The mean credit of those that tell something; null if none does. */
  readonly credit: number | null;
}

/**
 * What a run tells about each contestant that took part with work of its own, once however many places it had: with
 * two, it has twice the chances to win and no more to say. By run and contestant, whatever the order of outcomes.
 */
export function trialsOf(outcomes: readonly CandidateOutcome[]): readonly Trial[] {
  const key = (one: CandidateOutcome): string => `${one.runId}\n${contestantKey(one)}`;
  const own = outcomes
    .filter(isOwnWork)
    .toSorted((one, other) => byCodeUnits(key(one), key(other)) || byCodeUnits(one.alias, other.alias));
  return [...Map.groupBy(own, key).values()].map((group) => {
    const credits = group.flatMap((one) => creditOf(one) ?? []);
    return {
      candidates: group as [CandidateOutcome, ...CandidateOutcome[]],
      credit: credits.length === 0 ? null : credits.reduce((sum, one) => sum + one, 0) / credits.length,
    };
  });
}
