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
}
