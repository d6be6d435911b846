import type { ChaosEnvironment } from './chaos-environment.ts';
import { issueNumbered } from './repository.ts';

/** Calls of one run whose answers were paid for, where nobody was killed: the plan, and each turn of its coders. */
const CALLS_OF_A_RUN: Readonly<Record<string, number>> = {
  'anthropic/scripted-heron as brief': 1,
  'anthropic/scripted-heron as coder': 4,
  'anthropic/scripted-wren as coder': 3,
};

/** In the result of a tool that could not write, or that was killed. */
const TOOL_FAILED = /ENOSPC|no space left on device|killed by SIG/i;

export interface PaidCalls {
  readonly query: ChaosEnvironment['query'];
  readonly models: {
    readonly requests: readonly Pick<
      ChaosEnvironment['models']['requests'][number],
      'model' | 'body' | 'usage'
    >[];
  };
}

/**
 * What was paid for more often than without a kill, by the ledger: calls that ended with an answer. Calls that were cut
 * off are booked by their estimates, and not counted here; nor are questions that nobody asks without a fault: a coder
 * whose tool was killed or met a full disk tells its model so.
 */
export async function paidAgain({ query, models }: PaidCalls): Promise<readonly string[]> {
  const rows = await query(
    `select run.issue, model, case spender when 'brief' then 'brief' else 'coder' end as spender, count(*)::int as calls
       from runoff.gateway_call join runoff.run on run.id = run_id
      where exact and status = 200 group by run.id, 2, 3 order by 1, 2, 3`,
  );
  return rows.flatMap(({ issue, model, spender, calls }) => {
    const what = `${model} as ${spender}`;
    const { title } = issueNumbered(Number(issue));
    const afterFaults = models.requests.filter(
      ({ model: asked, body, usage }) =>
        usage !== null && `anthropic/${asked}` === model && body.includes(title) && TOOL_FAILED.test(body),
    );
    const distinct = new Set(afterFaults.map(({ body }) => body)).size;
    const more = Number(calls) - (CALLS_OF_A_RUN[what] ?? 0) - distinct;
    return more > 0 ? [`${what}: ${more} more`] : [];
  });
}
