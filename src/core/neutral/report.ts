import type { Admission, NeutralVote } from './types.ts';

/** What models wrote as tests, and what became of it, for people. Plain JSON; parts of it are a model's words. */
export interface NeutralReport {
  /** `provider/model` names of those who wrote. */
  readonly models: readonly string[];
  readonly tests: readonly (Omit<NeutralVote, 'id' | 'test'> & {
    readonly title: string;
    readonly quote?: string;
  })[];
  /** Sentences: what was not written, or not accepted, and why. */
  readonly notes: readonly string[];
}

/** One line for each vote of an admission. */
export function neutralReport(
  { tests, votes }: Admission,
  more: Pick<NeutralReport, 'models' | 'notes'>,
): NeutralReport {
  return {
    ...more,
    tests: votes.map(({ id, test, ...vote }) => {
      const file = tests.find((one) => one.id === test);
      return { ...vote, title: file?.title ?? id, ...(file?.quote ? { quote: file.quote } : {}) };
    }),
  };
}
