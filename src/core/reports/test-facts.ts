import { NEUTRAL_ORIGINS } from '../evidence/index.ts';
import type { Alias } from '../model/index.ts';
import type { NeutralReport } from '../neutral/index.ts';
import { counted } from './format.ts';
import type { RunView } from './view.ts';
import { oneLine } from './visible.ts';

/** Code points of one example. */
const SHOWN = 80;
/** Tests named before the rest is counted. */
const NAMED = 3;

/**
 * Tests that most survivors break, as a question to a person: plain text, not yet fit for Markdown or a terminal. Null
 * where there is none.
 */
export function contestedQuestion({ evidence }: RunView): string | null {
  const breaking = new Map<string, Alias[]>();
  for (const { alias, baseTests } of evidence)
    for (const id of baseTests?.contested ?? []) breaking.set(id, [...(breaking.get(id) ?? []), alias]);
  if (breaking.size === 0) return null;
  const who = [...new Set([...breaking.values()].flat())].sort();
  const tests = [...breaking.keys()].sort();
  const [one, should] =
    tests.length === 1 ? ['this base test', 'Should it'] : ['these base tests', 'Should they'];
  return `${listed(who)} break ${one}, which is not held against anybody: ${named(tests)}. ${should} change with this task?`;
}

/** Where survivors change the same, in the order of how many do, as one sentence of plain text; null where none do. */
export function agreementNote({ evidence }: RunView): string | null {
  const shared = new Map<string, number>();
  for (const { changes = [] } of evidence)
    for (const { name, others } of changes) if (others > 0) shared.set(name, others + 1);
  const places = [...shared].sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1));
  if (places.length === 0) return null;
  const survivors = evidence.filter(({ survivor }) => survivor).length;
  return `Changed alike by several of ${counted(survivors, 'survivor')}: ${named(places.map(([name, by]) => `${name} (${by})`))}.`;
}

/** What became of tests that count for nothing, and of those that models wrote, a sentence each: plain text. */
export function testNotes({ evidence, neutral }: RunView): readonly string[] {
  const unmet = [...new Set(evidence.flatMap((one) => one.unmet ?? []))].sort();
  const flaky = [...new Set(evidence.flatMap(({ baseTests }) => baseTests?.flaky ?? []))].sort();
  const reported = evidence.flatMap(({ baseTests }) => (baseTests?.source === 'report' ? [baseTests] : []));
  const once = reported.length > 0 && reported.every(({ baseRuns }) => baseRuns === undefined);
  return [
    ...(unmet.length > 0
      ? [
          `No candidate meets ${counted(unmet.length, 'example')} of the issue, as we read it: ${named(unmet.map((one) => oneLine(one, SHOWN)))}.`,
        ]
      : []),
    ...(flaky.length > 0
      ? [`${counted(flaky.length, 'test')} did not always give the same answer: ${named(flaky)}.`]
      : []),
    ...(once
      ? ['The base tests take so long that they were run once on the base: a flaky one is not known as such.']
      : []),
    ...(neutral ? written(neutral) : []),
  ];
}

/** What each kind of written test is called. */
const WRITTEN = {
  issue: 'Examples of the issue',
  writer: 'Tests written before any candidate was seen',
  distinguishing: 'Tests written to tell candidates apart',
  reviewer: 'Tests of a reviewer',
} as const;

function written({ models, tests, notes }: NeutralReport): readonly string[] {
  const heads = NEUTRAL_ORIGINS.flatMap((origin) => {
    const own = tests.filter((one) => one.origin === origin);
    const counts = (['admitted', 'suspect', 'refused'] as const).flatMap((standing) => {
      const count = own.filter((one) => one.standing === standing).length;
      return count === 0 ? [] : [`${count} ${standing}`];
    });
    const by = origin === 'writer' && models.length > 0 ? ` by ${listed(models)}` : '';
    return own.length === 0 ? [] : [`${WRITTEN[origin]}${by}: ${counts.join(', ')}.`];
  });
  const told = tests.flatMap(({ title, standing, failedBy, passedBy, because }) => {
    if (standing === 'suspect') return [`“${title}” is suspect: ${because}`];
    if (standing !== 'admitted' || failedBy.length === 0) return [];
    const passes = `${listed(passedBy)} ${passedBy.length === 1 ? 'passes' : 'pass'}`;
    return [`“${title}”: ${passes}, ${listed(failedBy)} ${failedBy.length === 1 ? 'fails' : 'fail'}.`];
  });
  return [...heads, ...bounded([...told, ...notes])];
}

/** Lines on written tests before the rest is counted. */
const MOST_LINES = 10;
const bounded = (lines: readonly string[]): readonly string[] =>
  lines.length <= MOST_LINES
    ? lines
    : [...lines.slice(0, MOST_LINES), `And ${lines.length - MOST_LINES} more notes on written tests.`];

const listed = (names: readonly string[]): string =>
  names.length < 2 ? (names[0] ?? 'nobody') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

function named(ids: readonly string[]): string {
  const shown = ids.slice(0, NAMED).join('; ');
  return ids.length > NAMED ? `${shown}; and ${ids.length - NAMED} more` : shown;
}
