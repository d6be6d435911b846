import type { Evidence } from '../core/evidence/index.ts';
import type { Author, Competitor, Judgement } from '../core/judging/index.ts';
import type { Alias, Usd } from '../core/model/index.ts';
import type { Artifacts } from '../ports/index.ts';
import type { Entry } from './examine/index.ts';
import { competitorOf, type JudgeParts, judgePool } from './judge/index.ts';

/** Models that `runoff select --judges` may ask, and what one request may cost. */
export interface Judging
  extends Pick<JudgeParts, 'gateway' | 'model' | 'clock' | 'random' | 'models' | 'instructions'> {
  /** US dollars for one request. */
  readonly budgetUsd: Usd;
}

/** Puts candidates that execution does not tell apart before blind judges. At most the families of their authors are known. */
export async function hearOn(
  judging: Judging,
  artifacts: Artifacts,
  on: {
    readonly runId: string;
    readonly task: string;
    readonly entries: readonly Entry[];
    readonly evidence: readonly Evidence[];
    readonly undecided: readonly Alias[];
    readonly signal: AbortSignal;
  },
): Promise<Judgement> {
  const competitors: Competitor[] = [];
  for (const alias of on.undecided) {
    const entry = on.entries.find((one) => one.alias === alias);
    const found = on.evidence.find((one) => one.alias === alias);
    if (entry && found)
      competitors.push(await competitorOf(artifacts, { ...entry, author: authorOf(entry) }, found));
  }
  const { budgetUsd, ...parts } = judging;
  return judgePool(
    {
      ...parts,
      payer: { runId: on.runId, repository: 'select', runCapUsd: budgetUsd },
      // All of the budget is for judges here: there are no coders to pay.
      share: 1,
      remember: (_, work) => work(),
      signal: on.signal,
    },
    { task: on.task, competitors, authors: on.entries.flatMap((entry) => authorOf(entry) ?? []) },
  );
}

/** Of a given patch at most the family is known. */
const authorOf = ({ family }: Entry): Author | null =>
  family === undefined ? null : { agent: '', model: family, prompt: '' };
