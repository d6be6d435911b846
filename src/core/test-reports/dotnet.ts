import type { TestOutcome } from '../evidence/index.ts';
import { Outcomes, reportLines } from './outcomes.ts';

/**
 * What `dotnet test` writes with the console logger at verbosity `normal`: a line for each test, what it says below a
 * failing one, and a total for each project. Throws an Error where the totals are not the number of lines.
 */
export function readDotnet(text: string): Outcomes {
  const found: { readonly name: string; readonly outcome: TestOutcome; readonly said: string[] }[] = [];
  let told = 0;
  for (const line of reportLines(text)) {
    const test = /^ {2}(Passed|Failed|Skipped) (\S.{0,900}?)(?: \[[^\]]{1,40}\])?$/.exec(line);
    const total = /^Total tests: (\d{1,7})/.exec(line);
    const last = found.at(-1);
    if (test)
      found.push({ name: test[2] as string, outcome: OUTCOMES[test[1] as string] ?? 'failed', said: [] });
    else if (total) told += Number(total[1]);
    else if (/^ {2}/.test(line) && last && last.said.length < MOST_LINES) last.said.push(line.trim());
  }
  if (found.length === 0) throw new Error('it names no test');
  if (found.length !== told) throw new Error(`it names ${found.length} tests and says that ${told} ran`);
  const outcomes = new Outcomes();
  for (const { name, outcome, said } of found) outcomes.add([name], outcome, said.join('\n'));
  return outcomes;
}

const OUTCOMES: Readonly<Record<string, TestOutcome>> = {
  Passed: 'passed',
  Failed: 'failed',
  Skipped: 'skipped',
};

/** Lines of one failure that are kept. */
const MOST_LINES = 30;
