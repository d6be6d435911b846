import type { PatchFile } from '../../patches/index.ts';
import { type Language, languageOf } from '../languages.ts';
import { type Assertion, assertionsOf } from './assertions.ts';
import { type Block, blocksOf } from './blocks.ts';
import { bracketsOf, callsOf } from './calls.ts';
import { type Case, casesOf, lastBefore, ownerOf } from './cases.ts';
import type { Look, Side, View } from './view.ts';

/** One side of a view, taken apart. */
export interface Reading {
  readonly side: Side;
  /** Tests and groups, in order. */
  readonly cases: readonly Case[];
  readonly tests: readonly Case[];
  readonly assertions: readonly Assertion[];
  readonly blocks: readonly Block[];
}

/** A part of a test file before and after. */
export interface TestView {
  readonly look: Look;
  readonly file: PatchFile;
  readonly language: Language;
  readonly before: Reading;
  readonly after: Reading;
}

/** Unit tests stand inside of production files there. */
const IN_SOURCE = /#\[(?:\w+::)*(?:test|rstest|test_case)\b|\bmod\s+tests?\b|#\[cfg\(test\)\]/;

/** Does a production file hold tests of its own, as is usual in Rust? */
export const holdsTests = (file: PatchFile): boolean =>
  file.role === 'production' && languageOf(file.path) === 'rust' && IN_SOURCE.test(file.section);

/** The views of a test file, or of the tests inside of a production file. */
export function readTests(look: Look): readonly TestView[] {
  const { file, language, views } = look;
  const inSource = file.role === 'production';
  return views
    .filter((view) => !inSource || IN_SOURCE.test(view.before.code) || IN_SOURCE.test(view.after.code))
    .map((view) => ({ look, file, language, ...bothSides(view, language, inSource) }));
}

const bothSides = (
  view: View,
  language: Language,
  inSource: boolean,
): Pick<TestView, 'before' | 'after'> => ({
  before: read(view.before, language, inSource),
  after: read(view.after, language, inSource),
});

function read(side: Side, language: Language, inSource: boolean): Reading {
  const brackets = bracketsOf(side.mask);
  const calls = callsOf(side, brackets);
  const cases = casesOf(side, language, calls, brackets);
  const blocks = blocksOf(side, language, brackets);
  const all = assertionsOf(side, language, calls, brackets, blocks);
  const assertions = inSource ? all.filter(({ at }) => ownerOf(side, cases, at) !== null) : all;
  return { side, cases, tests: cases.filter(({ suite }) => !suite), assertions, blocks };
}

/** The test around an offset; groups do not count. */
export const testAround = ({ side, tests }: Reading, offset: number): Case | null =>
  ownerOf(side, tests, offset);

/** The assertions of a test. */
export const assertionsIn = ({ assertions }: Reading, { at, end }: Case): readonly Assertion[] =>
  assertions.slice(lastBefore(assertions, at) + 1, lastBefore(assertions, end) + 1);
