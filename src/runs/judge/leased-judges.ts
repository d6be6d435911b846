import type { Judge } from '../../core/judging/index.ts';
import { NO_USAGE, type Usage } from '../../core/model/index.ts';
import { JUDGE_ANSWER_MS, type JudgeModel, type JudgeModelParts, openJudgeModel } from './judge-model.ts';

/** The models that are asked in one judgement. */
export interface LeasedJudges {
  /** Opened on first use. */
  judgeModel(judge: Judge): Promise<JudgeModel>;
  leasedJudges(): readonly Judge[];
  spent(): Promise<Usage>;
  close(): Promise<void>;
}

interface LeaseLimits {
  /** In the order of preference. */
  readonly models: readonly string[];
  /** For all judges together. */
  readonly shareUsd: number;
  /** Of one pair. */
  readonly judges: number;
  readonly calls: number;
}

export function openJudges(
  parts: JudgeModelParts,
  { models, shareUsd, judges, calls }: LeaseLimits,
): LeasedJudges {
  const leased = new Map<string, { readonly judge: Judge; readonly judgeModel: Promise<JudgeModel> }>();
  const allLeased = () => Promise.all([...leased.values()].map(({ judgeModel }) => judgeModel));
  const spent = async () =>
    (await allLeased()).map((judgeModel) => judgeModel.usage()).reduce(addUsage, NO_USAGE);
  // More models are leased than judges compare a pair: which ones depends on its authors, and on which fail.
  const isSpent = async () => leased.size > judges && (await spent()).usd >= shareUsd;
  // Long enough for all questions in sequence, each with its full time; the lease ends with the judgement.
  const ttlMs = JUDGE_ANSWER_MS * (1 + calls);
  return {
    judgeModel(judge) {
      const known = leased.get(judge.judge)?.judgeModel;
      if (known) return known;
      const terms = { spender: judge.judge, model: judge.model, capUsd: shareUsd / judges, ttlMs };
      const judgeModel = openJudgeModel(parts, terms).then((opened) => cappedTogether(opened, isSpent));
      leased.set(judge.judge, { judge, judgeModel });
      return judgeModel;
    },
    leasedJudges: () =>
      [...leased.values()]
        .map(({ judge }) => judge)
        .toSorted((a, b) => models.indexOf(a.model) - models.indexOf(b.model)),
    spent,
    async close() {
      const open = await Promise.allSettled([...leased.values()].map(({ judgeModel }) => judgeModel));
      await Promise.all(open.map((one) => (one.status === 'fulfilled' ? one.value.close() : undefined)));
    },
  };
}

/** All judges together have one share of the budget. */
const cappedTogether = (judgeModel: JudgeModel, isSpent: () => Promise<boolean>): JudgeModel => ({
  ...judgeModel,
  ask: async (question) =>
    (await isSpent())
      ? { kind: 'failed', why: "The judges' share of the budget is spent." }
      : judgeModel.ask(question),
});

const addUsage = (a: Usage, b: Usage): Usage => ({
  usd: a.usd + b.usd,
  tokensIn: a.tokensIn + b.tokensIn,
  tokensOut: a.tokensOut + b.tokensOut,
  calls: a.calls + b.calls,
});
