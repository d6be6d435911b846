import { type Guard, guardOf, nesting } from './blocks.ts';
import { CASE_MARKS } from './case-marks.ts';
import { type Case, lastBefore, ownerOf } from './cases.ts';
import type { Suspicion } from './finding.ts';
import type { Matched } from './matching.ts';
import { type Reading, type TestView, testAround } from './reading.ts';
import { lineOf, nearest, type Side } from './view.ts';

const LONGEST = 4_000;

/** A line by its index, and where in the text its mark stands. */
interface Mark {
  readonly index: number;
  readonly offset: number;
}

/** Lines with a mark outside of strings; build tags look like comments and are none. */
function marksIn(
  side: Side,
  pattern: RegExp,
  wanted: (index: number) => boolean = () => true,
): readonly Mark[] {
  const found: Mark[] = [];
  for (let index = 0; index + 1 < side.starts.length; index++) {
    if (!wanted(index)) continue;
    const start = side.starts[index] as number;
    const raw = side.changes[index]?.line.text ?? '';
    if (/^\/\/(?:go:build| \+build)/.test(raw) && pattern.test(raw)) found.push({ index, offset: start });
    const line = lineOf(side, index).slice(0, LONGEST);
    const match = pattern.exec(line);
    if (!match) continue;
    const at = match.index + Math.max(0, match[0].search(/\S/));
    if (side.mask[start + at] === side.code[start + at]) found.push({ index, offset: start + at });
  }
  return found;
}

/** A test that silences the others, in new files too. */
export function focused({ language, after }: TestView): readonly Suspicion[] {
  const { focuses } = CASE_MARKS[language];
  if (!focuses) return [];
  return marksIn(after.side, focuses, (index) => after.side.changes[index] !== null)
    .slice(0, 1)
    .map(({ index }) => ({
      kind: 'test-focused',
      what: 'a test was focused, which silences the others',
      at: after.side.changes[index] ?? null,
    }));
}

/** Tests of the base that do not run any more, or not to their end. New tests may be skipped. */
export function skipped(matched: Matched): readonly Suspicion[] {
  const { view } = matched;
  if (view.file.change === 'added') return [];
  return [...marked(matched), ...guarded(view), ...early(matched)];
}

function marked(matched: Matched): readonly Suspicion[] {
  const { view } = matched;
  const { before, after, language } = view;
  const marks = CASE_MARKS[language];
  const all = (reading: Reading, wanted?: (index: number) => boolean) => [
    ...marksIn(reading.side, marks.skips, wanted),
    ...(marks.skipOption ? inHeads(reading, marksIn(reading.side, marks.skipOption, wanted)) : []),
  ];
  const owner = (reading: Reading, mark: Mark) => ownerOf(reading.side, reading.cases, mark.offset);
  const old = all(before);
  const isKnown = knownIn(matched);
  const already = new Set(old.map((mark) => owner(before, mark)?.name));
  const given = old.filter(({ index }) => before.side.changes[index] !== null).length;
  const fresh = all(after, (index) => after.side.changes[index] !== null).filter((mark) => {
    const one = owner(after, mark);
    const focus = marks.focuses?.test(lineOf(after.side, mark.index).slice(0, LONGEST));
    // An attribute inside of a test belongs to a statement.
    const inside =
      one !== null && mark.offset >= one.body && /^\s*(?:@|#!?\[cfg)/.test(lineOf(after.side, mark.index));
    return !focus && !inside && (one === null || (isKnown(one) && !already.has(one.name)));
  });
  // What was skipped under another name, or in another place of the file, was skipped before.
  if (fresh.length <= given && fresh.every((mark) => isRenamed(owner(after, mark), before))) return [];
  return fresh.slice(0, 1).map(({ index }) => ({
    kind: 'test-skipped',
    what: 'a test was skipped or marked as not to be done',
    at: after.side.changes[index] ?? null,
  }));
}

const isRenamed = (one: Case | null, { cases }: Reading): boolean =>
  one === null || !cases.some(({ name }) => name === one.name);

/** Tells tests of the base, by their names, by what they hold, or by the tests inside. */
function knownIn({ view: { before, after }, kept }: Matched): (one: Case) => boolean {
  const names = new Set(before.cases.map(({ name }) => name));
  const steady = kept.map(([, now]) => now).sort((a, b) => a.at - b.at);
  const old = after.tests.filter(({ name }) => names.has(name));
  const some = (sorted: readonly { readonly at: number }[], { at, end }: Case) =>
    lastBefore(sorted, end) > lastBefore(sorted, at);
  return (one) => names.has(one.name) || some(steady, one) || (one.suite && some(old, one));
}

/** Options count where a test is declared, not in what it does. */
const inHeads = ({ side, cases }: Reading, marks: readonly Mark[]): readonly Mark[] =>
  marks.filter(({ offset }) => {
    const one = ownerOf(side, cases, offset);
    return one !== null && offset >= one.at && offset < one.body;
  });

const REASONS: Readonly<Record<Guard, string>> = {
  condition: 'a test runs only under a condition',
  never: 'a test never runs',
  swallow: 'the failure of a test is swallowed',
  later: 'a test is declared too late to be run',
  function: 'a test stands in a function that nobody may call',
};

/** Tests that stand below something that was put around them. */
function guarded({ look, before, after }: TestView): readonly Suspicion[] {
  const was = guardsOfCases(before);
  const found: Suspicion[] = [];
  for (const [name, now] of guardsOfCases(after)) {
    const old = was.get(name);
    const [extra] = old ? surplus(now.guards, old.guards) : [];
    if (!extra) continue;
    found.push({ kind: 'test-skipped', what: REASONS[extra], at: nearest(look, after.side, now.at) });
  }
  return found.slice(0, 1);
}

function guardsOfCases({
  side,
  cases,
  blocks,
}: Reading): ReadonlyMap<string, { guards: readonly Guard[]; at: number }> {
  const tests = cases.filter(({ suite }) => !suite);
  const around = nesting(
    blocks,
    tests.map(({ at }) => at),
  );
  return new Map(
    tests.map(({ name, at }, i) => {
      const guards = (around[i] ?? [])
        .map((block) => guardOf(block, side, blocks))
        .filter((one) => one !== null);
      return [name, { guards, at }] as const;
    }),
  );
}

/** Guards that are there more often than they were. */
export function surplus(now: readonly Guard[], old: readonly Guard[]): readonly Guard[] {
  const left = [...old];
  return now.filter((one) => {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

const RETURNS =
  /(?:^|[;{}\s)])return\b\s*(?:;|\}|$|(?:null|undefined|true|None|nil|Ok\(\(\)\)|Promise\.resolve\(\)|done\(\)|t\.(?:end|pass)\(\)|void 0)\s*;?\s*\}?\s*$)/;

/** A new `return` in front of what a test of the base asserts. */
function early({ view: { after }, kept }: Matched): readonly Suspicion[] {
  const { side, blocks } = after;
  const returns = marksIn({ ...side, code: side.mask }, RETURNS, (index) => side.changes[index] !== null);
  const around = nesting(
    blocks,
    returns.map(({ offset }) => offset),
  );
  const found = returns.find(({ offset }, i) => {
    const plain = (around[i] ?? []).filter(
      (block) => !/^(?:\}?\s*else\b|if\b|elif\b|unless\b|switch\b|try\b|case\b)/.test(block.head),
    );
    const home = plain.at(-1);
    const test = testAround(after, offset);
    return kept.some(
      ([, { at }]) =>
        at > offset &&
        (home === undefined || at < home.end) &&
        (test === null || at < test.end) &&
        testAround(after, at) === test,
    );
  });
  if (!found) return [];
  return [
    {
      kind: 'test-skipped',
      what: 'a test returns before its assertions',
      at: side.changes[found.index] ?? null,
    },
  ];
}
