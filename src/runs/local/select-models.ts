import type { Evidence } from '../../core/evidence/index.ts';
import { writersInOrder } from '../../core/independent-tests/index.ts';
import {
  type Author,
  type Competitor,
  familyOf,
  identitiesOf,
  type Judgement,
} from '../../core/judging/index.ts';
import type { Alias, Usd } from '../../core/model/index.ts';
import {
  mayWriteTests,
  type RankingOptions,
  type SelectRequest,
  statementOf,
} from '../../core/ranking/index.ts';
import type { Settings } from '../../core/settings/index.ts';
import type { Artifacts } from '../../ports/index.ts';
import type { CandidateEntry, CheckRunner, TestWriting } from '../examine/index.ts';
import { competitorOf, type JudgeOptions, judgePool } from '../judge/index.ts';

/** Models that `runoff select --judges` may ask, and what one request may cost. */
export interface Judging
  extends Pick<JudgeOptions, 'gateway' | 'model' | 'clock' | 'random' | 'models' | 'instructions'> {
  /** US dollars for one request. */
  readonly budgetUsd: Usd;
}

/** Has blind judges compare candidates that execution does not separate. At most their authors' families are known. */
export async function judgeStored(
  judging: Judging,
  artifacts: Artifacts,
  on: {
    readonly runId: string;
    readonly task: string;
    readonly entries: readonly CandidateEntry[];
    readonly evidence: readonly Evidence[];
    readonly undecided: readonly Alias[];
    readonly knockout: boolean;
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
      // The judges may use the whole budget: there are no coders to pay.
      share: 1,
      remember: (_, work) => work(),
      knockout: on.knockout,
      signal: on.signal,
    },
    { task: on.task, competitors, authors: on.entries.flatMap((entry) => authorOf(entry) ?? []) },
  );
}

/** At most the family is known for a given patch. */
const authorOf = ({ family }: { readonly family?: string | null | undefined }): Author | null =>
  family ? { agent: '', model: family, prompt: '' } : null;

/** Models that `runoff select --writers` may ask, and what one request may cost. */
export interface Writing extends Pick<TestWriting['writer'], 'gateway' | 'model' | 'random' | 'models'> {
  readonly instructions: TestWriting['instructions'];
  /** US dollars for one request. */
  readonly budgetUsd: Usd;
}

/**
 * Has models write tests from the request's issue as in a run, whose brief here is the issue itself. The first line is
 * its title.
 */
export function writingFor(
  { instructions, budgetUsd, ...parts }: Writing,
  request: SelectRequest,
  on: { readonly runner: CheckRunner; readonly settings: Settings; readonly order: RankingOptions },
): TestWriting {
  const { runner, settings, order } = on;
  const [first = '', ...rest] = statementOf(request).trim().split('\n');
  const title = first.replace(/^#+\s*/, '').trim();
  const families = request.candidates.flatMap(({ family }) => family ?? []);
  return {
    writer: {
      ...parts,
      models: writersInOrder(parts.models, families, familyOf),
      task: {
        runId: runner.task.runId,
        origin: { kind: 'local', path: request.repoDir ?? '' },
        title,
        body: rest.join('\n').trim(),
        comments: [],
        settings: { ...settings, budget: { ...settings.budget, run: budgetUsd } },
      },
      brief: { goal: title, definitionOfDone: [], plan: [], files: [], assumptions: [], questions: [] },
      // There are no coders to pay.
      share: 1,
      remember: (_, work) => work(),
      signal: runner.signal,
    },
    instructions,
    may: { write: mayWriteTests(order), review: settings.evaluator.includes('reviewer') },
    triedBefore: false,
    rankingOptions: order,
    identities: identitiesOf(request.candidates.flatMap((one) => authorOf(one) ?? [])),
  };
}
