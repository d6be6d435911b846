import type { PatchFile } from '../../patches/index.ts';
import type { Assertion } from './assertions.ts';
import type { Case } from './cases.ts';
import { coverageOf } from './coverage.ts';

import { counted, type Suspicion, was } from './finding.ts';
import type { Guard } from './guards.ts';
import { lenient } from './lenience.ts';
import { literalsOf } from './literals.ts';
import { type Fate, lostTests } from './lost-tests.ts';
import { type Matched, matchAll, pairs } from './matching.ts';
import { assertionsIn, type TestView, testAround } from './reading.ts';
import { replacedApis } from './replaced.ts';
import { changedData } from './runs.ts';
import { focused, skipped, surplus } from './skips.ts';
import { changeIn, nearest } from './view.ts';
import { weakening } from './weakening.ts';

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
    // Where the whole test stands below a condition, the test is what is named.
    const test = testAround(after, now.at);
    const what = guard
      ? REASONS[guard as Exclude<Guard, 'function'>]
      : 'the result of an assertion is not waited for any more';
    const at = changeIn(after.side, now.at, now.end) ?? nearest(view.look, after.side, now.at);
    if (test && guard && outside(view, test.at, guard)) continue;
    return [{ kind: 'assertion-neutralised', what, at }];
  }
  return [];
}

/** Does the guard stand around the whole test? */
const outside = ({ after }: TestView, at: number, guard: Guard): boolean =>
  after.blocks.some(
    (block) =>
      block.start <= at &&
      at < block.end &&
      guard !== 'later' &&
      /^(?:if|unless|while|try)\b/.test(block.head),
  );
