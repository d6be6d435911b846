import type { Alias, Usage } from '../model/index.ts';

/** Where a run's money goes, in the order in which it is spent. */
const SPENDING_LABELS = {
  brief: 'Brief',
  debate: 'Debate of the brief',
  setup: 'Commands for the base commit',
  coders: 'Coders',
  tests: 'Tests written by models',
  judges: 'Blind judges',
  review: 'Review of the winner',
  other: 'Other',
} as const;
type SpendingGroupName = keyof typeof SPENDING_LABELS;

/** All coders of a run as one spender, where blind mode hides what each of them spent. */
export const ALL_CODERS = 'coders';

/** Calls of one spender of the ledger to one model; null: hidden. */
interface SpenderUsage extends Usage {
  readonly spender: string;
  readonly model: string | null;
  readonly estimated: number;
}

interface SpendingGroup<Row extends SpenderUsage> {
  readonly title: string;
  readonly usd: number;
  readonly tokens: number;
  readonly calls: number;
  /** The most expensive first. */
  readonly rows: readonly Row[];
}

/** The spenders of a run, grouped by what they work on; groups that spent nothing are left out. */
export function spendingGroups<Row extends SpenderUsage>(
  rows: readonly Row[],
  aliases: readonly Alias[],
): readonly SpendingGroup<Row>[] {
  const names = Object.keys(SPENDING_LABELS) as readonly SpendingGroupName[];
  return names.flatMap((name) => {
    const own = rows
      .filter(({ spender }) => groupOfSpender(spender, aliases) === name)
      .toSorted((a, b) => b.usd - a.usd);
    if (own.length === 0) return [];
    const sum = (of: (row: Row) => number) => own.reduce((total, row) => total + of(row), 0);
    return [
      {
        title: SPENDING_LABELS[name],
        usd: sum(({ usd }) => usd),
        tokens: sum(({ tokensIn, tokensOut }) => tokensIn + tokensOut),
        calls: sum(({ calls }) => calls),
        rows: own,
      },
    ];
  });
}

/** By the names under which the stages open their leases. */
function groupOfSpender(spender: string, aliases: readonly Alias[]): SpendingGroupName {
  if (spender === ALL_CODERS || aliases.includes(spender)) return 'coders';
  if (spender === 'setup') return spender;
  if (spender === 'brief' || spender.startsWith('brief-')) return 'brief';
  if (spender.startsWith('debate-')) return 'debate';
  if (spender === 'writer' || spender === 'distinguisher') return 'tests';
  if (spender.startsWith('judge-')) return 'judges';
  return spender === 'reviewer' || spender.startsWith('review-') ? 'review' : 'other';
}
