import type { PatchFile } from '../../patches/index.ts';
import { type Assertion, assertionsIn, type TestView } from './assertions.ts';
import { type Case, ownerOf } from './cases.ts';
import { counted, type Suspicion, was } from './finding.ts';
import type { Guard } from './guards.ts';
import { coverageOf, type Fate, lostTests } from './lost-tests.ts';
import { literalsOf } from './matchers.ts';
import { type Matched, matchAll, pairs, weakening } from './matching.ts';
import { changedData } from './runs.ts';
import { focused, skipped, surplus } from './skips.ts';
import { changeIn, lineOf, nearest, type Side } from './view.ts';

/** What happened to the tests of each file. `counts`: a test that moves there is still run. */
export function comparedTests(
  views: readonly TestView[],
  counts: (view: TestView) => boolean,
): readonly { readonly file: PatchFile; readonly suspicions: readonly Suspicion[] }[] {
  const fates = matchAll(views, counts).map((matched) => ({
    matched,
    paired: pairs(matched),
    covers: coverageOf(matched),
  }));
  const lost = lostTests(fates, counts);
  return fates.map((fate) => {
    const { matched, paired } = fate;
    const gone = lost.filter(({ view }) => view === matched.view).map(({ test }) => test);
    return {
      file: matched.view.file,
      suspicions: [
        ...deleted(matched, gone),
        ...focused(matched.view),
        ...skipped(matched),
        ...changedAssertions(fate, gone),
        ...neutralised(matched),
        ...lenient(matched),
        ...changedData(matched, gone, new Set(paired.values())),
        ...replacedApis(matched),
      ],
    };
  });
}

function deleted({ view: { look, file, before } }: Matched, gone: readonly Case[]): readonly Suspicion[] {
  const [first] = gone;
  if (!first) return [];
  const at = changeIn(before.side, first.at, first.end) ?? nearest(look, before.side, first.at);
  if (file.change === 'deleted' && gone.length === before.tests.length)
    return [{ kind: 'test-deleted', what: 'a test file was removed', at, whole: true }];
  return [{ kind: 'test-deleted', what: `${counted(gone.length, 'test')} ${was(gone.length)} removed`, at }];
}

function changedAssertions({ matched, paired, covers }: Fate, gone: readonly Case[]): readonly Suspicion[] {
  const { view, lost } = matched;
  const { before, after } = view;
  const dead = new Set(gone.flatMap((test) => assertionsIn(before, test)));
  const left = lost.filter((one) => !dead.has(one));
  const found = new Map<string, Suspicion>();
  for (const one of left) {
    const now = paired.get(one);
    const worse = now ? weakening(one, now) : null;
    if (!now || !worse || found.has(worse.kind) || (isSpread(worse.kind, now) && covers(one))) continue;
    const at = changeIn(after.side, now.at, now.end) ?? changeIn(before.side, one.at, one.end);
    found.set(worse.kind, { ...worse, at: at ?? nearest(view.look, after.side, now.at) });
  }
  const removed = left.filter((one) => !paired.has(one) && !covers(one));
  const [first] = removed;
  if (!first) return [...found.values()];
  const what = `${counted(removed.length, 'assertion')} ${was(removed.length)} removed from a test`;
  const at = changeIn(before.side, first.at, first.end) ?? nearest(view.look, before.side, first.at);
  return [{ kind: 'assertion-removed', what, at }, ...found.values()];
}

/** Does the new assertion only go through a table of what was asked for one by one? */
const isSpread = (kind: Suspicion['kind'], { form }: Assertion): boolean =>
  kind === 'expectation-changed' && literalsOf(form.subject + form.expected).length === 0;

const REASONS: Readonly<Record<Exclude<Guard, 'function'>, string>> = {
  condition: 'an assertion was made conditional',
  swallow: 'the failure of an assertion is swallowed',
  never: 'an assertion never runs',
  later: 'an assertion runs only when the test is over',
};

/** Assertions that read as before, and cannot fail any more. */
function neutralised({ view, kept }: Matched): readonly Suspicion[] {
  const { after } = view;
  for (const [old, now] of kept) {
    const guard = surplus(now.guards, old.guards).find((one) => one !== 'function');
    const unawaited = old.awaited && !now.awaited && /\b(?:resolves|rejects|toPass)\b/.test(now.text);
    if (!guard && !unawaited) continue;
    const what = guard
      ? REASONS[guard as Exclude<Guard, 'function'>]
      : 'the result of an assertion is not waited for any more';
    const at = changeIn(after.side, now.at, now.end) ?? nearest(view.look, after.side, now.at);
    return [{ kind: 'assertion-neutralised', what, at }];
  }
  return [];
}

interface Allowance {
  readonly what: string;
  /** Finds the number in a line; a match without one counts as one. */
  readonly pattern: RegExp;
}

const ALLOWANCES: readonly Allowance[] = [
  {
    what: 'a failing test is tried again',
    pattern:
      /\b(?:retryTimes|retries|retry|reruns|max_retries|maxRetries|max_runs|repeats?OnFailure)\s*[:(=]\s*(\d+)|@(?:Retry\w*|RepeatedIfExceptions\w*|RetryingTest|Flaky)\b|\bmark\.flaky\b|^\s*@flaky\b/,
  },
  {
    what: 'a test may take longer',
    pattern:
      /\b(?:jest\.setTimeout|this\.timeout|mark\.timeout|vi\.setConfig|@Timeout)\s*\(\D{0,30}([\d_]+)|\b(?:timeout|testTimeout|hookTimeout)\s*[:=]\s*([\d_]+)|^\s*\}\s*,\s*([\d_]{4,})\s*\)/,
  },
];

/** More time or more tries for tests of the base. */
function lenient({ view, kept }: Matched): readonly Suspicion[] {
  if (view.file.change === 'added') return [];
  const { before, after } = view;
  const known = new Set(before.cases.map(({ name }) => name));
  const counts = (offset: number) => {
    const owner = ownerOf(after.side, after.cases, offset);
    return (
      owner === null || known.has(owner.name) || kept.some(([, { at }]) => at >= owner.at && at < owner.end)
    );
  };
  return ALLOWANCES.flatMap(({ what, pattern }) => {
    const old = amounts(before.side, pattern, () => true).map(({ amount }) => amount);
    const [found] = amounts(after.side, pattern, counts).filter(
      ({ amount }) => !old.some((one) => one >= amount),
    );
    return found
      ? [{ kind: 'assertion-weakened', what, at: after.side.changes[found.index] ?? null } as const]
      : [];
  });
}

function amounts(
  side: Side,
  pattern: RegExp,
  counts: (offset: number) => boolean,
): readonly { readonly index: number; readonly amount: number }[] {
  return side.changes.flatMap((change, index) => {
    if (!change) return [];
    const line = lineOf(side, index).slice(0, 1_000);
    const match = pattern.exec(line);
    if (!match || !counts((side.starts[index] as number) + match.index)) return [];
    const digits = match.slice(1).find((one) => one !== undefined);
    return [{ index, amount: digits === undefined ? 1 : Number(digits.replaceAll('_', '')) }];
  });
}

const API = 'expect|assert|test|it|describe|suite|beforeEach|afterEach';
/** The test's own words come from a file of the repository. */
const LOCAL_IMPORT = new RegExp(
  `^\\s*import\\b[^'"]{0,300}\\b(${API})\\b[^'"]{0,300}from\\s*['"](\\.[^'"]+)['"]|^\\s*(?:const|let|var)\\s*[^=]{0,200}\\b(${API})\\b[^=]{0,200}=\\s*require\\(\\s*['"](\\.[^'"]+)['"]`,
);
/** They are given another meaning. */
const REDEFINED = new RegExp(
  `^(?:export\\s+)?(?:(?:const|let|var)\\s+(?:${API})\\s*=\\s*(?:async\\s*)?(?:\\(|function\\b|\\w+\\s*=>|new\\s+Proxy)|(?:async\\s+)?function\\s+(?:${API})\\s*\\()|^(?:globalThis|global|window)\\s*(?:\\.|\\[['"])(?:${API})\\b['"\\]]*\\s*=(?!=)|^(?:${API})\\s*=(?!=|>)|^\\s*expect\\.extend\\(\\s*\\{[^}]*\\bto(?:Be|Equal|StrictEqual|Throw)\\b`,
);
const MOCKS =
  /\b(?:vi|jest|mock|td)\.(?:mock|doMock|setMock|unstable_mockModule|module|replace)\s*\(\s*(?:import\(\s*)?['"](\.[^'"]+)['"]/;
const PYTHON_MOCK = /^\s*@(?:mock\.|unittest\.mock\.)?patch(?:\.object)?\s*\(/;

/** What a test file of the base stands on, replaced: the words of the runner, or the code under test. */
function replacedApis({ view }: Matched): readonly Suspicion[] {
  if (view.file.change !== 'modified') return [];
  const { before, after } = view;
  const { language } = view.look;
  const found: Suspicion[] = [];
  after.side.changes.forEach((change, index) => {
    if (!change || found.length > 0) return;
    const line = lineOf(after.side, index).slice(0, 1_000);
    const what = language === 'js' ? replacedIn(line, before.side) : null;
    if (what) found.push({ ...what, at: change });
    const owner =
      language === 'python' && PYTHON_MOCK.test(line)
        ? ownerOf(after.side, after.cases, after.side.starts[index] as number)
        : null;
    if (owner && before.cases.some(({ name }) => name === owner.name))
      found.push({
        kind: 'assertion-neutralised',
        what: 'a test of the base mocks what it tests',
        at: change,
        slight: true,
      });
  });
  return found;
}

function replacedIn(line: string, before: Side): Omit<Suspicion, 'at'> | null {
  const local = LOCAL_IMPORT.exec(line);
  const word = local?.[1] ?? local?.[3];
  const from = local?.[2] ?? local?.[4];
  if (word !== undefined && from !== undefined && !before.code.includes(from))
    return { kind: 'assertions-patched', what: `\`${word}\` now comes from another place` };
  if (REDEFINED.test(line))
    return { kind: 'assertions-patched', what: 'the words of the test runner are redefined in a test file' };
  const mocked = MOCKS.exec(line)?.[1];
  const imported =
    mocked !== undefined &&
    new RegExp(`(?:from|import|require\\()\\s*['"]${escaped(mocked)}(?:\\.\\w+)?['"]`).test(before.code);
  return imported
    ? { kind: 'assertion-neutralised', what: 'the code under test is replaced by a mock' }
    : null;
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
