import type { PatchFile } from '../../patches/index.ts';
import { type Chain, chainsOf, grammarOf } from '../../source/index.ts';
import { type Assertion, assertionsOf } from './assertions.ts';
import { type Case, casesOf, lastBefore, ownerOf } from './cases.ts';
import type { Look, Side, View } from './view.ts';

/** One side of a view, taken apart. */
export interface Reading {
  readonly side: Side;
  /** Tests and groups, in order. */
  readonly cases: readonly Case[];
  readonly tests: readonly Case[];
  readonly assertions: readonly Assertion[];
  readonly chains: readonly Chain[];
}

/** A part of a test file before and after. */
export interface TestView {
  readonly look: Look;
  readonly file: PatchFile;
  readonly before: Reading;
  readonly after: Reading;
}

/** Unit tests stand inside of production files there. */
const IN_SOURCE = /#\[(?:\w+::)*(?:test|rstest|test_case)\b|\bmod\s+tests?\b|#\[cfg\(test\)\]/;

/** Does a production file hold tests of its own, as is usual in Rust? */
export const holdsTests = (file: PatchFile): boolean =>
  file.role === 'production' && grammarOf(file.path) === 'rust' && IN_SOURCE.test(file.section);

/** The views of a test file, or of the tests inside of a production file. */
export function readTests(look: Look): readonly TestView[] {
  const { file, views } = look;
  const inSource = file.role === 'production';
  return views
    .filter((view) => !inSource || IN_SOURCE.test(view.before.code) || IN_SOURCE.test(view.after.code))
    .map((view) => ({ look, file, ...bothSides(view, inSource) }));
}

const bothSides = (view: View, inSource: boolean): Pick<TestView, 'before' | 'after'> => ({
  before: read(view.before, inSource),
  after: read(view.after, inSource),
});

function read(side: Side, inSource: boolean): Reading {
  const chains = side.tree ? chainsOf(side.tree) : [];
  const cases = casesOf(side, chains);
  const all = assertionsOf(side, cases, chains);
  const assertions = inSource ? all.filter(({ at }) => ownerOf(side, cases, at) !== null) : all;
  return { side, chains, cases, tests: cases.filter(({ suite }) => !suite), assertions };
}

/** The test around an offset; groups do not count. */
export const testAround = ({ side, tests }: Reading, offset: number): Case | null =>
  ownerOf(side, tests, offset);

/** The assertions of a test. */
export const assertionsIn = ({ assertions }: Reading, { at, end }: Case): readonly Assertion[] =>
  assertions.slice(lastBefore(assertions, at) + 1, lastBefore(assertions, end) + 1);
