import type { TestMark } from '../evidence/index.ts';
import { type Alias, byAlias } from '../model/index.ts';
import { chosenOf, pickOf, type Separator } from '../ranking/index.ts';
import { type DistinguishingTest, distinguishingTests } from './executed.ts';
import { contestantName, costText, counted, elapsed, money, tokensText } from './format.ts';
import { code, details, fill, inertSentence, prose, tableRows } from './markdown.ts';
import { sequenceResult } from './sequence.ts';
import type { RunView } from './view.ts';

/** Maximum rows and columns of the small matrix; the page of the run has all. */
const MAX_TESTS_SHOWN = 8;
const MAX_CANDIDATES_SHOWN = 5;
/** Maximum code points of each part of a test's name in a cell. */
const MAX_NAME = 64;

/** Decisions that rest on tests. */
const BY_TESTS: ReadonlySet<Separator> = new Set([
  'regressions',
  'fixed',
  'independent',
  'tests',
  'objections',
]);

const SIGNS: Readonly<Record<TestMark, string>> = {
  p: '✓',
  f: '✗',
  s: 'skipped',
  m: 'missing',
  n: 'not run',
  u: 'flaky',
  '-': 'not run',
};

/** Who passes which test, if tests decided; empty otherwise, and if no result of a test is known. */
export function matrixSection(view: RunView, maxLength: number): string {
  const { decision, ranking } = view;
  if (!decision || !BY_TESTS.has(decision.decidedBy)) return '';
  const first = chosenOf(view) ?? pickOf(decision);
  const tested = ranking.filter(({ survivor }) => survivor).map(({ alias }) => alias);
  const others = tested.filter((alias) => alias !== first).slice(0, MAX_CANDIDATES_SHOWN - 1);
  const shown = tested.filter((alias) => alias === first || others.includes(alias));
  if (first === null || shown.length < 2) return '';
  const tests = distinguishingTests(view, shown);
  if (tests.length === 0) return '';
  const listed = tests.slice(0, MAX_TESTS_SHOWN);
  const rows = listed.map((test) => matrixRow(test, shown, listed));
  const lines = tableRows(
    ['who passes which test', ...shown.map((alias) => `**${alias}**`)],
    `l${'l'.repeat(shown.length)}`,
    rows,
  );
  const more = tests.length - rows.length;
  const rest = more > 0 ? `\n\n${counted(more, 'more test')} with different results.` : '';
  const body = fill(lines, maxLength - rest.length, {
    separator: '\n',
    more: (left) => `\n(${left} more, omitted for length)`,
  });
  return body === '' ? '' : `${body}${rest}`;
}

const matrixRow = (
  test: DistinguishingTest,
  shown: readonly Alias[],
  listed: readonly DistinguishingTest[],
): readonly string[] => [
  `${shortName(test, listed)}${test.author === undefined ? '' : ` (of ${test.author})`}`,
  ...test.marks.map((mark, at) => (shown[at] === test.author ? 'its own' : SIGNS[mark])),
];

/** As many last parts of its name as tell it from the other listed tests: file and suites are the same for most. */
function shortName(test: DistinguishingTest, listed: readonly DistinguishingTest[]): string {
  const parts = test.name.split(' > ');
  const namesakes = listed.filter((one) => one !== test && one.author === test.author);
  const end = (name: string, count: number) => name.split(' > ').slice(-count).join(' > ');
  let count = 1;
  while (count < parts.length && namesakes.some(({ name }) => end(name, count) === end(test.name, count)))
    count += 1;
  return prose(end(test.name, count) || test.name, MAX_NAME * count);
}

/** Maximum code points of what is said about a sequential field. */
const MAX_FIELD = 400;
const CONTESTANTS_SUMMARY = 'Who wrote them, and what they cost';

/** The contestants' names, in no other place of a comparison; with cost and time, folded. */
export function contestantsSection(view: RunView, maxLength: number): string {
  const rows = view.candidates
    .toSorted(byAlias)
    .map(({ alias, contestant, usage, ms }) => [
      `**${alias}**`,
      code(contestantName(contestant), 80),
      costText(usage),
      tokensText(usage),
      elapsed(ms),
    ]);
  if (rows.length === 0) return '';
  const field = sequenceResult(view);
  const whole = [
    ...(view.budget.spent > 0 ? [`The whole run cost ${money(view.budget.spent)}.`] : []),
    ...(field === null ? [] : [inertSentence(field, MAX_FIELD)]),
  ]
    .map((sentence) => `\n\n${sentence}`)
    .join('');
  const lines = tableRows(['', 'contestant', 'cost', 'tokens', 'time'], 'llrrr', rows);
  const body = fill(lines, maxLength - details(CONTESTANTS_SUMMARY, '').length - whole.length, {
    separator: '\n',
    more: (left) => `\n(${left} more, omitted for length)`,
  });
  return details(CONTESTANTS_SUMMARY, `${body}${whole}`);
}
