import type { TestOutcome } from '../core/evidence/index.ts';
import type { ReportFormat } from '../core/policy/index.ts';

export type TestReport =
  | {
      readonly kind: 'ok';
      readonly tests: Readonly<Record<string, TestOutcome>>;
      /** What the runner said about failing tests, by id; bounded in number and length. */
      readonly said: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'unreadable'; readonly why: string };

/** Reads what a program in a sandbox may have written: bounded, and never trusted to be well-formed. */
export interface Reports {
  readTests(format: ReportFormat, text: string): TestReport;
  /** Parses `.github/auto-dev.yml`; problems carry line and column. */
  readSettings(text: string, fileName: string): SettingsFile;
}

export type SettingsFile =
  | {
      readonly kind: 'ok';
      readonly value: unknown;
      readonly locate: (path: readonly PropertyKey[]) => string;
    }
  | { readonly kind: 'invalid'; readonly problems: readonly string[] };
