import type { TestOutcome } from '../evidence/index.ts';
import type { ReportFormat } from '../settings/index.ts';
import { readCargo } from './cargo.ts';
import { readGo } from './go.ts';
import { readJest, readMocha } from './json.ts';
import { readJUnit } from './junit.ts';
import type { Outcomes } from './outcomes.ts';
import { readTap } from './tap.ts';
import { readUnittest } from './unittest.ts';

export type TestReport =
  | {
      readonly kind: 'ok';
      readonly tests: Readonly<Record<string, TestOutcome>>;
      /** What the runner printed about failing tests, by id; bounded in number and length. */
      readonly said: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'unreadable'; readonly why: string };

/** A report bigger than this is not read. */
const MOST_CHARACTERS = 32 * 2 ** 20;
const MOST_TESTS = 200_000;

const READERS: Readonly<Record<ReportFormat, (text: string) => Outcomes>> = {
  junit: readJUnit,
  'jest-json': readJest,
  'mocha-json': readMocha,
  tap: readTap,
  'go-json': readGo,
  'cargo-text': readCargo,
  'unittest-text': readUnittest,
};

/** Reads a report that a program in a sandbox may have written. Never throws: `unreadable` says why, in a sentence. */
export function readTestReport(format: ReportFormat, text: string): TestReport {
  if (text.length > MOST_CHARACTERS) return unreadable(`it is longer than ${MOST_CHARACTERS} characters`);
  try {
    const outcomes = READERS[format](text);
    if (outcomes.size > MOST_TESTS) return unreadable(`it names more than ${MOST_TESTS} tests`);
    return { kind: 'ok', tests: outcomes.toRecord(), said: outcomes.said() };
  } catch (thrown) {
    // Parsers tell a broken report from a good one by throwing; that is an answer here, not a fault.
    return unreadable(thrown instanceof Error ? thrown.message : String(thrown));
  }
}

const MOST_WHY = 300;
const unreadable = (why: string): TestReport => ({
  kind: 'unreadable',
  why: `The test report cannot be read: ${why.slice(0, MOST_WHY)}.`,
});
