import { counted } from '../../model/index.ts';
import type { PatchFile } from '../../patches/index.ts';
import { languageOf } from '../languages.ts';
import { type Assertion, assertionsIn, type TestView, testAround, testNames } from './assertions.ts';
import { enclosingCase, lastBefore, type TestCase } from './cases.ts';
import { changedData } from './changed-data.ts';
import { type Suspicion, wasOrWere } from './finding.ts';
import type { Guard } from './guards.ts';
import { literalsOf } from './matchers.ts';
import { likelyPairs, type MatchedView, matchAcrossViews, weakening } from './matching.ts';
import { coverageOf, removedTests, type ViewComparison } from './removed-tests.ts';
import { focusedTests, skippedTests, surplus } from './skips.ts';
import { changeIn, lineText, nearestChange, type Side } from './view.ts';

/** Reports what happened to the tests of each file. `counts`: tests that move to this file still run. */
export function comparedTests(
  views: readonly TestView[],
  counts: (view: TestView) => boolean,
): readonly { readonly file: PatchFile; readonly suspicions: readonly Suspicion[] }[] {
  const comparisons = matchAcrossViews(views, counts).map((matched) => ({
    matched,
    paired: likelyPairs(matched),
    covers: coverageOf(matched),
  }));
  const allRemoved = Map.groupBy(removedTests(comparisons, counts), ({ view }) => view);
  return comparisons.map((comparison) => {
    const { matched, paired } = comparison;
    const removed = (allRemoved.get(matched.view) ?? []).map(({ test }) => test);
    return {
      file: matched.view.file,
      suspicions: [
        ...deletedTests(matched, removed),
        ...focusedTests(matched.view),
        ...skippedTests(matched),
        ...changedAssertions(comparison, removed),
        ...neutralisedAssertions(matched),
        ...relaxedLimits(matched),
        ...changedData(matched, removed, new Set(paired.values())),
        ...replacedApis(matched),
      ],
    };
  });
}

function deletedTests(
  { view: { inspected, file, before, after } }: MatchedView,
  removed: readonly TestCase[],
): readonly Suspicion[] {
  const [first] = removed;
  if (!first) return [];
  const at = changeIn(before.side, first.at, first.end) ?? nearestChange(inspected, before.side, first.at);
  if (file.change === 'deleted' && removed.length === before.tests.length)
    return [{ kind: 'test-deleted', what: 'a test file was removed', at, whole: true }];
  const isWhole = inspected.baseText !== undefined && after.tests.length === 0;
  if (isWhole && removed.length === before.tests.length)
    return [{ kind: 'test-deleted', what: 'all tests of a file were removed', at, whole: true }];
  return [
    {
      kind: 'test-deleted',
      what: `${counted(removed.length, 'test')} ${wasOrWere(removed.length)} removed`,
      at,
      tests: removed.map(({ name }) => name),
    },
  ];
}

function changedAssertions(
  { matched, paired, covers }: ViewComparison,
  removed: readonly TestCase[],
): readonly Suspicion[] {
  const { view, missing } = matched;
  const { before, after } = view;
  const inRemovedTests = new Set(removed.flatMap((test) => assertionsIn(before, test)));
  const left = missing.filter((one) => !inRemovedTests.has(one));
  const found: Suspicion[] = [];
  for (const one of left) {
    const now = paired.get(one);
    const worse = now ? weakening(one, now) : null;
    if (!now || !worse || (isSpread(worse.kind, now) && covers(one))) continue;
    const at = changeIn(after.side, now.at, now.end) ?? changeIn(before.side, one.at, one.end);
    found.push({
      ...worse,
      at: at ?? nearestChange(view.inspected, after.side, now.at),
      tests: testNames(before, [one]),
      change: `${one.text}\n${now.text}`,
    });
  }
  const unmatched = left.filter((one) => !paired.has(one) && !covers(one));
  const [first] = unmatched;
  if (!first) return found;
  const what = `${counted(unmatched.length, 'assertion')} ${wasOrWere(unmatched.length)} removed from a test`;
  const at =
    changeIn(before.side, first.at, first.end) ?? nearestChange(view.inspected, before.side, first.at);
  return [{ kind: 'assertion-removed', what, at, tests: testNames(before, unmatched) }, ...found];
}

/** Whether the new assertion only iterates over the values that were checked one by one. */
const isSpread = (kind: Suspicion['kind'], { form }: Assertion): boolean =>
  kind === 'expectation-changed' && literalsOf(form.subject + form.expected).length === 0;

const GUARDED_ASSERTION_TEXTS: Readonly<Record<Exclude<Guard, 'function'>, string>> = {
  condition: 'an assertion was made conditional',
  swallow: 'the failure of an assertion is swallowed',
  never: 'an assertion never runs',
  later: 'an assertion runs only after the test has ended',
  deferred: 'an assertion now runs later, and reading does not show whether the test waits for it',
};

const MAY_BE_HONEST: ReadonlySet<Guard> = new Set<Guard>(['condition', 'deferred']);

/** Assertions that are unchanged but can no longer fail. */
function neutralisedAssertions({ view, kept }: MatchedView): readonly Suspicion[] {
  const { before, after } = view;
  for (const [old, now] of kept) {
    const extra = surplus(now.guards, old.guards).filter((one) => one !== 'function');
    const guard = extra.find((one) => !MAY_BE_HONEST.has(one)) ?? extra[0];
    const unawaited = old.awaited && !now.awaited && /\b(?:resolves|rejects|toPass)\b/.test(now.text);
    if (!guard && !unawaited) continue;
    const what = guard
      ? GUARDED_ASSERTION_TEXTS[guard as Exclude<Guard, 'function'>]
      : 'the result of an assertion is no longer awaited';
    const at = changeIn(after.side, now.at, now.end) ?? nearestChange(view.inspected, after.side, now.at);
    const isSameTest = testAround(before, old.at)?.name === testAround(after, now.at)?.name;
    // Behaviour that depends on platform or version is checked under a condition. The same text in another test may be
    // another assertion.
    const severity = (guard && MAY_BE_HONEST.has(guard)) || !isSameTest ? 'question' : 'gate';
    return [{ kind: 'assertion-neutralised', what, at, severity, tests: testNames(before, [old]) }];
  }
  return [];
}

interface Allowance {
  readonly what: string;
  /** Captures the number in a line; a match without a number counts as one. */
  readonly pattern: RegExp;
}

const ALLOWANCES: readonly Allowance[] = [
  {
    what: 'a failing test is retried',
    pattern:
      /\b(?:retryTimes|retries|retry|reruns|max_retries|maxRetries|max_runs|repeats?OnFailure)\s*[:(=]\s*(\d+)|@(?:Retry\w*|RepeatedIfExceptions\w*|RetryingTest|Flaky)\b|\bmark\.flaky\b|^\s*@flaky\b/,
  },
  {
    what: 'the timeout of a test was raised',
    pattern:
      /\b(?:jest\.setTimeout|this\.timeout|mark\.timeout|vi\.setConfig|@Timeout)\s*\(\D{0,30}([\d_]+)|\b(?:timeout|testTimeout|hookTimeout)\s*[:=]\s*([\d_]+)|^\s*\}\s*,\s*([\d_]{4,})\s*\)/,
  },
];

/** Longer time limits or more retries for base tests. */
function relaxedLimits({ view, kept }: MatchedView): readonly Suspicion[] {
  if (view.file.change === 'added') return [];
  const { before, after } = view;
  const known = new Set(before.cases.map(({ name }) => name));
  const steady = kept.map(([, now]) => now).sort((a, b) => a.at - b.at);
  const counts = (offset: number) => {
    const owner = enclosingCase(after.side, after.cases, offset);
    return (
      owner === null || known.has(owner.name) || lastBefore(steady, owner.end) > lastBefore(steady, owner.at)
    );
  };
  return ALLOWANCES.flatMap(({ what, pattern }) => {
    const most = limitsIn(before.side, pattern, () => true).reduce(
      (max, { amount }) => Math.max(max, amount),
      Number.NEGATIVE_INFINITY,
    );
    const found = limitsIn(after.side, pattern, counts).find(({ amount }) => amount > most);
    return found
      ? [{ kind: 'assertion-weakened', what, at: after.side.changes[found.index] ?? null } as const]
      : [];
  });
}

function limitsIn(
  side: Side,
  pattern: RegExp,
  counts: (offset: number) => boolean,
): readonly { readonly index: number; readonly amount: number }[] {
  return side.changes.flatMap((change, index) => {
    if (!change) return [];
    const line = lineText(side, index).slice(0, 1_000);
    const match = pattern.exec(line);
    if (!match || !counts((side.starts[index] as number) + match.index)) return [];
    const digits = match.slice(1).find((one) => one !== undefined);
    return [{ index, amount: digits === undefined ? 1 : Number(digits.replaceAll('_', '')) }];
  });
}

const RUNNER_WORDS_PATTERN = 'expect|assert|test|it|describe|suite|beforeEach|afterEach';
/** Functions of the test runner are imported from a file of the repository. */
const LOCAL_IMPORT = new RegExp(
  `^\\s*import\\b[^'"]{0,300}\\b(${RUNNER_WORDS_PATTERN})\\b[^'"]{0,300}from\\s*['"](\\.[^'"]+)['"]|^\\s*(?:const|let|var)\\s*[^=]{0,200}\\b(${RUNNER_WORDS_PATTERN})\\b[^=]{0,200}=\\s*require\\(\\s*['"](\\.[^'"]+)['"]`,
);
/** Functions of the test runner are redefined. */
const REDEFINED_RUNNER_WORD = new RegExp(
  `^(?:export\\s+)?(?:(?:const|let|var)\\s+(?:${RUNNER_WORDS_PATTERN})\\s*=\\s*(?:async\\s*)?(?:\\(|function\\b|\\w+\\s*=>|new\\s+Proxy)|(?:async\\s+)?function\\s+(?:${RUNNER_WORDS_PATTERN})\\s*\\()|^(?:globalThis|global|window)\\s*(?:\\.|\\[['"])(?:${RUNNER_WORDS_PATTERN})\\b['"\\]]*\\s*=(?!=)|^(?:${RUNNER_WORDS_PATTERN})\\s*=(?!=|>)|^\\s*expect\\.extend\\(\\s*\\{[^}]*\\bto(?:Be|Equal|StrictEqual|Throw)\\b`,
);
const LOCAL_MOCK =
  /\b(?:vi|jest|mock|td)\.(?:mock|doMock|setMock|unstable_mockModule|module|replace)\s*\(\s*(?:import\(\s*)?['"](\.[^'"]+)['"]/;
const PYTHON_MOCK = /^\s*@(?:mock\.|unittest\.mock\.)?patch(?:\.object)?\s*\(/;

/** Replacements for what a base test file depends on: functions of the test runner, or the code under test. */
function replacedApis({ view }: MatchedView): readonly Suspicion[] {
  if (view.file.change !== 'modified') return [];
  const { before, after } = view;
  const { language } = view.inspected;
  const found: Suspicion[] = [];
  after.side.changes.forEach((change, index) => {
    if (!change || found.length > 0) return;
    const line = lineText(after.side, index).slice(0, 1_000);
    const what = language === 'js' ? replacedIn(line, before.side) : null;
    if (what) found.push({ ...what, at: change });
    const owner =
      language === 'python' && PYTHON_MOCK.test(line)
        ? enclosingCase(after.side, after.cases, after.side.starts[index] as number)
        : null;
    if (owner && before.cases.some(({ name }) => name === owner.name))
      found.push({
        kind: 'assertion-neutralised',
        what: 'an existing test now mocks what it tests',
        at: change,
        severity: 'question',
      });
  });
  return found;
}

function replacedIn(line: string, before: Side): Omit<Suspicion, 'at'> | null {
  const local = LOCAL_IMPORT.exec(line);
  const word = local?.[1] ?? local?.[3];
  const from = local?.[2] ?? local?.[4];
  if (word !== undefined && from !== undefined && !before.code.includes(from))
    return { kind: 'assertions-patched', what: `\`${word}\` is now imported from another module` };
  if (REDEFINED_RUNNER_WORD.test(line))
    return { kind: 'assertions-patched', what: 'functions of the test runner are redefined in a test file' };
  const mocked = LOCAL_MOCK.exec(line)?.[1];
  const imported =
    mocked !== undefined &&
    new RegExp(`(?:from|import|require\\()\\s*['"]${RegExp.escape(mocked)}(?:\\.\\w+)?['"]`).test(
      before.code,
    );
  return imported
    ? {
        kind: 'assertion-neutralised',
        what: 'the code under test is replaced by a mock',
        severity: 'question',
      }
    : null;
}

/** The part of a name by which runners find tests, and the language: `.test` in JavaScript, `_test` in Go. */
export function testNameStyle(path: string): string {
  const name = path.split('/').at(-1) ?? '';
  const [, ending = ''] = /([._-](?:tests?|specs?|e2e|cy))?\.\w+$/i.exec(name) ?? [];
  return `${/^test[_-]/i.exec(name)?.[0] ?? ''}${ending} ${languageOf(path)}`;
}

/** Folders and names that no runner searches. */
const UNTESTED_PATH =
  /(?:^|\/)(?:node_modules|dist|build|out|coverage|vendor|fixtures|__fixtures__|testdata|__mocks__|docs|examples?|\.[\w-]+)\/|(?:^|\/)[._][^/]*$/;

/**
 * Whether a test that moves into this file still runs. Files of the base do; a new file must be named like those it
 * replaces.
 */
export const isStillRun = ({ file }: TestView, styles: ReadonlySet<string>): boolean =>
  file.change === 'modified' ||
  (file.change === 'added' && !UNTESTED_PATH.test(file.path) && styles.has(testNameStyle(file.path)));
