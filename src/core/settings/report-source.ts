export type ReportFormat =
  | 'junit'
  | 'vitest'
  | 'jest-json'
  | 'mocha-json'
  | 'tap'
  | 'uvu-text'
  | 'any-reports'
  | 'go-json'
  | 'cargo-text'
  | 'unittest-text'
  | 'rspec-json'
  | 'minitest-text'
  | 'dotnet-text'
  | 'junit-files';

/**
 * Where to find a runner's report after the command has ended. A file is preferred if the runner can write one,
 * because the output of the code under test does not end up in it. Neither is proof: the code under test runs in the
 * runner's process, so it can deliberately write to the file or the stream. The damage is limited: a report has no
 * effect on other candidates, and a stream with injected lines contradicts the runner's own plan and counts as no
 * report (src/core/test-reports/tap.ts).
 */
export type ReportSource =
  | {
      readonly source: 'file';
      readonly file: string;
      readonly format: ReportFormat;
      /** Older versions of the runner cannot write a file and write the same to standard output. */
      readonly orStdout?: true;
      /** Another file of the runner, which is read behind the first one. */
      readonly second?: string;
    }
  /** Files of all runners that the environment tells, and what others print on standard output. */
  | { readonly source: 'folder'; readonly folder: string; readonly format: 'any-reports' }
  /** Any number of files below the working folder. */
  | { readonly source: 'tree'; readonly pattern: string; readonly format: 'junit-files' }
  | { readonly source: 'stdout' | 'stderr'; readonly format: ReportFormat };
