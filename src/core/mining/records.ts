import { z } from 'zod';
import { counted } from '../model/index.ts';
import { LEFT_OUT, type LeftOut } from './changes.ts';

/** Beside the dataset: one line for each change that was executed, so that nothing is executed twice. */
export const MINED_FILE = 'mined.jsonl';

/** What execution showed of a change. */
export const OUTCOMES = {
  kept: 'kept',
  'base-broken': 'the base cannot be set up, built or tested',
  'passes-before': 'its tests pass without the change',
  'fails-after': 'its tests fail with the change',
  flaky: 'its tests are flaky',
  unusable: 'the change or its tests cannot be used in a task',
  removed: 'the task was removed from the dataset',
} as const;
export type MinedOutcome = keyof typeof OUTCOMES;

const Commit = z.string().regex(/^[0-9a-f]{40}$/);

/** A line of `mined.jsonl`. */
export const MinedRecord = z.strictObject({
  version: z.literal(1),
  /** Commit and time: a change may be executed again on request. */
  id: z.string().max(100),
  commit: Commit,
  base: Commit,
  title: z.string().max(1_000),
  outcome: z.enum(Object.keys(OUTCOMES) as [MinedOutcome, ...MinedOutcome[]]),
  /** What happened, in a sentence; null if it was kept. */
  why: z.string().max(4_000).nullable(),
  /** The id of the task; null unless it was kept. */
  task: z.string().max(200).nullable(),
  seconds: z.number().min(0),
  at: z.iso.datetime(),
});
export type MinedRecord = z.infer<typeof MinedRecord>;

/** The last word on each change; lines of several people may have been merged in any order. */
export function latestByCommit(records: readonly MinedRecord[]): ReadonlyMap<string, MinedRecord> {
  const latest = new Map<string, MinedRecord>();
  for (const one of records) {
    const known = latest.get(one.commit);
    if (known === undefined || Date.parse(one.at) >= Date.parse(known.at)) latest.set(one.commit, one);
  }
  return latest;
}

/** What says the task of a change: the text of its issues, or its message. `because`: a clause that says why. */
export const STATEMENTS = {
  issue: { from: 'issue', because: 'the change closes them' },
  message: { from: 'message', because: 'no issue on GitHub is known that it closes' },
  'no-app': {
    from: 'message',
    because: 'no GitHub App is configured (APP_ID, PRIVATE_KEY and WEBHOOK_SECRET) to read the issue',
  },
  'no-access': { from: 'message', because: 'the GitHub App has no access to the repository' },
  unreadable: { from: 'message', because: 'the issue is gone, or may not be read' },
  'other-pull': {
    from: 'message',
    because: 'the pull request that it names was not merged as this commit',
  },
  'too-many': { from: 'message', because: 'it closes too many issues for one task' },
  'says-nothing': { from: 'message', because: 'the text of the issue says nothing' },
} as const satisfies Record<string, { readonly from: 'issue' | 'message'; readonly because: string }>;
export type StatementSource = keyof typeof STATEMENTS;
/** Tasks by what says them. */
export type StatementCounts = Readonly<Partial<Record<StatementSource, number>>>;

/** Sentences about where the statements of tasks come from; none for none. */
export function statementLines(counts: StatementCounts): readonly string[] {
  return (Object.keys(STATEMENTS) as StatementSource[]).flatMap((source) => {
    const count = counts[source] ?? 0;
    if (count === 0) return [];
    const { from, because } = STATEMENTS[source];
    return from === 'issue'
      ? [`${counted(count, 'task')} stated by the text of issues.`]
      : [`${counted(count, 'task')} stated by the commit message: ${because}.`];
  });
}

/** Why mining ended. */
export const STOPS = {
  done: 'Everything was looked at.',
  limit: 'The limit of tasks is reached; `--limit` raises it.',
  time: 'The time is over; the same command goes on from here.',
  interrupted: 'Interrupted; the same command goes on from here.',
} as const;
export type Stop = keyof typeof STOPS;

export interface MiningSummary {
  /** Commits on the first-parent line since then. */
  readonly commits: number;
  /** Of these, changes that brought tests and may become tasks. */
  readonly found: number;
  readonly kept: number;
  /** Found changes that nobody has executed yet. */
  readonly unchecked: number;
  /** Executed and not kept, by outcome. */
  readonly dropped: Readonly<Partial<Record<MinedOutcome, number>>>;
  /** Never executed, by reason. */
  readonly leftOut: Readonly<Partial<Record<LeftOut, number>>>;
  readonly stop: Stop;
}

export function summaryOf(
  classified: readonly { readonly kind: 'found' | 'left-out'; readonly why?: LeftOut }[],
  outcomes: readonly MinedOutcome[],
  stop: Stop,
): MiningSummary {
  const found = classified.filter(({ kind }) => kind === 'found').length;
  return {
    commits: classified.length,
    found,
    kept: outcomes.filter((one) => one === 'kept').length,
    unchecked: found - outcomes.length,
    dropped: tally(outcomes.filter((one) => one !== 'kept')),
    leftOut: tally(classified.flatMap(({ why }) => why ?? [])),
    stop,
  };
}

function tally<K extends string>(names: readonly K[]): Partial<Record<K, number>> {
  const counts: Partial<Record<K, number>> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** Rows for people: what, and how many. */
export function summaryRows(summary: MiningSummary): readonly (readonly [what: string, count: number])[] {
  const rows = <K extends string>(counts: Partial<Record<K, number>>, texts: Record<K, string>) =>
    (Object.keys(texts) as K[]).flatMap((name) => {
      const count = counts[name] ?? 0;
      return count === 0 ? [] : [[`  ${texts[name]}`, count] as const];
    });
  const left = Object.values(summary.leftOut).reduce((sum, count) => sum + count, 0);
  const dropped = Object.values(summary.dropped).reduce((sum, count) => sum + count, 0);
  return [
    ['commits', summary.commits],
    ['left out', left],
    ...rows(summary.leftOut, LEFT_OUT),
    ['found: changes with tests', summary.found],
    ['dropped after execution', dropped],
    ...rows(summary.dropped, OUTCOMES),
    ['not executed yet', summary.unchecked],
    ['kept as tasks', summary.kept],
  ];
}

interface MiningProgress {
  /** Changes that this call executed, and in how many seconds. */
  readonly checked: number;
  readonly seconds: number;
  /** Tasks of the dataset before this call, and now. */
  readonly before: number;
  readonly kept: number;
}

/** Roughly how long the rest takes, from the mean of what was executed; null before the first. */
function timeLeft(
  { checked, seconds, before, kept }: MiningProgress,
  { found, limit }: { readonly found: number; readonly limit: number },
): number | null {
  if (checked === 0) return null;
  const made = kept - before;
  const untilLimit = made === 0 ? found : Math.ceil(((limit - kept) * checked) / made);
  return (seconds / checked) * Math.max(0, Math.min(found - checked, untilLimit));
}

/** `3 of 50 tasks, 12 of 80 changes executed, about 14 min left`. */
export function progressText(
  done: MiningProgress,
  of: { readonly found: number; readonly limit: number },
): string {
  const left = timeLeft(done, of);
  const minutes = left === null ? null : Math.ceil(left / 60);
  return [
    `${done.kept} of ${counted(of.limit, 'task')}`,
    `${done.checked} of ${counted(of.found, 'change')} executed`,
    ...(minutes === null ? [] : [minutes <= 1 ? 'about 1 min left' : `about ${minutes} min left`]),
  ].join(', ');
}
