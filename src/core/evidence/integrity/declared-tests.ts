import { chainsOf, type SourceText, type SyntaxTrees } from '../../source/index.ts';
import { testCasesOf } from './cases.ts';
import { sideOfText } from './view.ts';

/**
 * Number of tests that a text declares, those within another test not counted: at least so many are reported, unless some
 * are declared on a condition. 0 if the text cannot be parsed.
 */
export function declaredTests(source: SourceText, trees: SyntaxTrees): number {
  const side = sideOfText(source, trees);
  const tests = testCasesOf(side, side.tree ? chainsOf(side.tree) : []).filter(({ suite }) => !suite);
  let end = -1;
  let count = 0;
  for (const test of tests) {
    if (test.at < end) continue;
    end = test.end;
    count += 1;
  }
  return count;
}
