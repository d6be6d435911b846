import { ancestors, firstFrom } from '../../source/index.ts';
import { type ParsedTests, type TestView, testAround } from './assertions.ts';
import { enclosingCase, isCallback, isFunction, lastBefore, type TestCase } from './cases.ts';
import type { Suspicion } from './finding.ts';
import { type Guard, guardReader } from './guards.ts';
import type { MatchedView } from './matching.ts';
import { isConditional, type SkipMarker, skipMarkersIn } from './skip-markers.ts';
import { lineIndexAt, nearestChange } from './view.ts';

const changeAt = ({ side }: ParsedTests, { offset }: SkipMarker) =>
  side.changes[lineIndexAt(side, offset)] ?? null;

/** Focused tests, which disable the others; in new files, too. */
export function focusedTests({ after }: TestView): readonly Suspicion[] {
  // A test of a test library declares tests, when those of the file are known already.
  const isWithinTest = ({ offset }: SkipMarker): boolean =>
    enclosingCase(
      after.side,
      after.cases,
      offset,
      ({ suite, body, bodyEnd }) => !suite && body <= offset && offset < bodyEnd,
    ) !== null;
  const focused = skipMarkersIn(after).filter((marker) => marker.focus && changeAt(after, marker) !== null);
  const marker = focused.find((one) => !isWithinTest(one)) ?? focused[0];
  if (!marker) return [];
  return [
    {
      kind: 'test-focused',
      what: isWithinTest(marker)
        ? 'within a test, a test was focused, so that others may not run'
        : 'a test was focused, so the others do not run',
      at: changeAt(after, marker),
      ...(isWithinTest(marker) ? { severity: 'question' } : {}),
    },
  ];
}

/** Base tests that no longer run, or no longer run to their end. New tests may be skipped. */
export function skippedTests(matched: MatchedView): readonly Suspicion[] {
  const { view } = matched;
  if (view.file.change === 'added') return [];
  return [...newSkipMarkers(matched), ...newlyGuardedTests(view), ...earlyReturns(matched)];
}

function newSkipMarkers(matched: MatchedView): readonly Suspicion[] {
  const { before, after } = matched.view;
  const owner = (parsed: ParsedTests, marker: SkipMarker) =>
    enclosingCase(parsed.side, parsed.cases, marker.offset);
  const old = skipMarkersIn(before).filter(({ focus }) => !focus);
  const isKnown = baseTestFilter(matched);
  const already = new Set(old.map((marker) => owner(before, marker)?.name));
  const names = new Set(before.cases.map(({ name }) => name));
  const isRenamed = (one: TestCase | null) => one === null || !names.has(one.name);
  const given = old.filter((marker) => changeAt(before, marker) !== null).length;
  const added = skipMarkersIn(after).filter((marker) => {
    const one = owner(after, marker);
    return (
      !marker.focus &&
      changeAt(after, marker) !== null &&
      (one === null || (isKnown(one) && !already.has(one.name)))
    );
  });
  // A skip under another name, or elsewhere in the file, is not new.
  if (added.length <= given && added.every((marker) => isRenamed(owner(after, marker)))) return [];
  // A skip that always holds is more severe than a conditional one.
  const worst = added.find((marker) => !isConditional(after, marker)) ?? added[0];
  if (!worst) return [];
  const at = changeAt(after, worst);
  const owners = added.map((marker) => owner(after, marker));
  const tests = owners.every((one) => one !== null && !isRenamed(one))
    ? owners.flatMap((one) => one?.name ?? [])
    : [];
  return isConditional(after, worst)
    ? [
        {
          kind: 'test-skipped',
          what: 'a test is now skipped under a condition',
          at,
          tests,
          severity: 'question',
        },
      ]
    : [{ kind: 'test-skipped', what: 'a test was skipped or marked as to do', at, tests }];
}

/** Recognizes base tests by name, by content, or by the tests inside. */
function baseTestFilter({ view: { before, after }, kept }: MatchedView): (one: TestCase) => boolean {
  const names = new Set(before.cases.map(({ name }) => name));
  const steady = kept.map(([, now]) => now).sort((a, b) => a.at - b.at);
  const old = after.tests.filter(({ name }) => names.has(name));
  const some = (sorted: readonly { readonly at: number }[], { at, end }: TestCase) =>
    lastBefore(sorted, end) > lastBefore(sorted, at);
  return (one) => names.has(one.name) || some(steady, one) || (one.suite && some(old, one));
}

const GUARDED_TEST_TEXTS: Readonly<Record<Guard, string>> = {
  condition: 'a test runs only under a condition',
  never: 'a test never runs',
  swallow: 'the failure of a test is swallowed',
  later: 'a test is declared too late to run',
  deferred: 'a test is declared too late to run',
  function: 'a test is inside a function that may never be called',
};

/** Tests that are now inside a new guard. */
function newlyGuardedTests({ inspected, before, after }: TestView): readonly Suspicion[] {
  const was = guardsOfCases(before);
  const found = [...guardsOfCases(after)].flatMap(([name, { guards, at }]) => {
    const old = was.get(name);
    const extra = old ? surplus(guards, old.guards) : [];
    const certain = extra.find((guard) => guard !== 'condition' && guard !== 'function');
    const guard = certain ?? extra[0];
    return guard === undefined ? [] : [{ name, at, guard, isCertain: certain !== undefined }];
  });
  const worst = found.find(({ isCertain }) => isCertain) ?? found[0];
  return worst
    ? [
        {
          kind: 'test-skipped',
          what: GUARDED_TEST_TEXTS[worst.guard],
          at: nearestChange(inspected, after.side, worst.at),
          tests: found.map(({ name }) => name),
          severity: worst.isCertain ? 'gate' : 'question',
        },
      ]
    : [];
}

function guardsOfCases({
  side,
  tests,
}: ParsedTests): ReadonlyMap<string, { guards: readonly Guard[]; at: number }> {
  const guardsOf = guardReader(side, new Set(tests.map(({ node }) => node)));
  return new Map(tests.map(({ name, node, at }) => [name, { guards: guardsOf(node, null), at }] as const));
}

/** Guards that occur more often than before. */
export function surplus(now: readonly Guard[], old: readonly Guard[]): readonly Guard[] {
  const left = new Map<Guard, number>();
  for (const one of old) left.set(one, (left.get(one) ?? 0) + 1);
  return now.filter((one) => {
    const count = left.get(one) ?? 0;
    left.set(one, count - 1);
    return count <= 0;
  });
}

/** A `return` without a value. */
const EMPTY_RETURN =
  /^return\b\s*(?:null|undefined|true|None|nil|Ok\(\(\)\)|Promise\.resolve\(\)|done\(\)|t\.(?:end|pass)\(\)|void 0)?\s*;?$/;

/** A new `return` before the assertions of a base test. */
function earlyReturns({ view: { after }, kept }: MatchedView): readonly Suspicion[] {
  const { side } = after;
  const returns = (side.tree?.nodes ?? []).filter(
    (node) =>
      node.named &&
      /^return/.test(node.type) &&
      side.changes[lineIndexAt(side, node.from)] &&
      EMPTY_RETURN.test(side.code.slice(node.from, node.to).trim()),
  );
  const later = Map.groupBy(
    kept.map(([, { at, end }]) => ({ from: at, end })).sort((a, b) => a.from - b.from),
    ({ from }) => testAround(after, from),
  );
  const found = returns.find((node) => {
    const home = ancestors(node).find(
      (each) =>
        isCallback(each) ||
        isFunction(each) ||
        (/^(?:do_block|block)$/.test(each.type) && each.field === 'block'),
    );
    const test = testAround(after, node.from);
    const own = later.get(test) ?? [];
    const next = own[firstFrom({ nodes: own }, node.from + 1)];
    return next !== undefined && next.from < Math.min(home?.to ?? next.end, test?.end ?? next.end);
  });
  if (!found) return [];
  const at = side.changes[lineIndexAt(side, found.from)] ?? null;
  return isConditional(after, { offset: found.from, focus: false })
    ? [
        {
          kind: 'test-skipped',
          what: 'a test returns before its assertions under a condition',
          at,
          severity: 'question',
        },
      ]
    : [{ kind: 'test-skipped', what: 'a test returns before its assertions', at }];
}
