import type { Stage } from './stage.ts';

/** What earlier runs of a repository change in one, frozen at its admission. */
export interface Learned {
  /** Why these contestants, one sentence each; absent: the settings name them. */
  readonly field?: readonly string[];
  /** As `core/learning` derives it from outcomes; absent: there are too few. */
  readonly confidence?: {
    readonly offset: number;
    readonly verdicts: number;
    readonly noneClear?: true;
  };
  /** The contestants of a sequential field in the order in which they start; absent: all start at once. */
  readonly sequence?: readonly SequencedContestant[];
  /** What each stage usually takes here; absent: there are too few runs. Changes nothing but a text. */
  readonly times?: StageTimes;
}

/** What is known about a contestant before it starts. */
export interface Expectation {
  /** Estimated share of runs that it wins, in [0, 1]. */
  readonly wins: number;
  /** What it probably costs, US dollars; null: unknown. */
  readonly usd: number | null;
}

/** A contestant of a sequential field. */
export interface SequencedContestant extends Expectation {
  /** Its 0-based position among the contestants of the settings. */
  readonly position: number;
}

/** Why a run with a sequential field started no further contestant. Plain JSON. */
export interface FieldEnd {
  /** Contestants of the field that were started, and how many it has. */
  readonly started: number;
  readonly of: number;
  /** One sentence. */
  readonly because: string;
  /** What the others would probably have cost, US dollars; null: unknown. */
  readonly savedUsd: number | null;
}

/** The median of earlier runs. */
export interface StageTimes {
  readonly runs: number;
  /** Milliseconds from the start of a stage to the start of the next one. */
  readonly ms: Readonly<Record<Stage, number>>;
}
