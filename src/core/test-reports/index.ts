import type { TestOutcome } from '../evidence/index.ts';
import type { ReportFormat } from '../settings/index.ts';
import { readAnyReports } from './any-reports.ts';
import { readCargo } from './cargo.ts';
import { readDotnet } from './console-output.ts';
import { readGo, readJest, readMocha, readRspec } from './json.ts';
import { readJUnit, readJUnitFiles, readVitest } from './junit.ts';
import type { Outcomes } from './outcomes.ts';
import { readRubyTests } from './ruby-text.ts';
import { readUvu } from './runner-text.ts';
import { readTap } from './tap.ts';
import { readUnittest } from './unittest.ts';

type TestReport =
  | {
      readonly kind: 'ok';
      readonly tests: Readonly<Record<string, TestOutcome>>;
      /** The runner's messages about failing tests, by id; bounded in number and length. */
      readonly messages: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'unreadable'; readonly why: string };

/** Maximum size of a report; larger ones are not read. */
const MAX_REPORT_CHARS = 32 * 2 ** 20;
const MAX_REPORTED_TESTS = 200_000;

const READERS: Readonly<Record<ReportFormat, (text: string) => Outcomes>> = {
  junit: readJUnit,
  vitest: readVitest,
  'jest-json': readJest,
  'mocha-json': readMocha,
  tap: readTap,
  'uvu-text': readUvu,
  'any-reports': readAnyReports,
  'go-json': readGo,
  'cargo-text': readCargo,
  'unittest-text': readUnittest,
  'rspec-json': readRspec,
  'minitest-text': readRubyTests,
  'dotnet-text': readDotnet,
  'junit-files': readJUnitFiles,
};

/** Parses an untrusted report from a sandbox. Never throws: `unreadable` says why, in a sentence. */
export function readTestReport(format: ReportFormat, text: string): TestReport {
  if (text.length > MAX_REPORT_CHARS) return unreadable(`it is longer than ${MAX_REPORT_CHARS} characters`);
  try {
    const outcomes = READERS[format](text);
    if (outcomes.size > MAX_REPORTED_TESTS)
      return unreadable(`it names more than ${MAX_REPORTED_TESTS} tests`);
    return { kind: 'ok', tests: outcomes.toRecord(), messages: outcomes.messages() };
  } catch (thrown) {
    // Parsers throw on a malformed report, which is an expected outcome here, not a fault.
    return unreadable(thrown instanceof Error ? thrown.message : String(thrown));
  }
}

const MAX_REASON_CHARS = 300;
const unreadable = (why: string): TestReport => ({
  kind: 'unreadable',
  why: `The test report cannot be read: ${why.slice(0, MAX_REASON_CHARS)}.`,
});
