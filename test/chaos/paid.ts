import type { Stage } from './stage.ts';

/** Calls of one run whose answers were paid for, where nobody was killed: the plan, and each turn of its coders. */
const CALLS_OF_A_RUN: Readonly<Record<string, number>> = {
  'anthropic/scripted-heron as brief': 1,
  'anthropic/scripted-heron as coder': 4,
  'anthropic/scripted-wren as coder': 3,
};

/**
 * What was paid for more often than without a kill, by the ledger: calls that ended with an answer. Calls that were cut
 * off are booked by their estimates, and not counted here.
 */
export async function paidAgain({ query }: Pick<Stage, 'query'>): Promise<readonly string[]> {
  const rows = await query(
    `select run_id, model || ' as ' || case spender when 'brief' then 'brief' else 'coder' end as what, count(*)::int as calls
       from runoff.gateway_call where exact and status = 200 group by 1, 2 order by 2, 1`,
  );
  return rows.flatMap(({ what, calls }) => {
    const more = Number(calls) - (CALLS_OF_A_RUN[String(what)] ?? 0);
    return more > 0 ? [`${what}: ${more} more`] : [];
  });
}
