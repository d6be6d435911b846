import { TestRunner } from 'vitest';

/** Headings of docs/reliability.md, in its order. */
export const PARTS = [
  'The App is killed',
  'Child processes are killed',
  'The database is killed or unavailable',
  'Several processes',
  'Model calls break off',
  'GitHub is unavailable',
  'Disks are full',
  'Clocks jump',
  'Stored data is damaged',
  'Too much at once',
  'Upgrades',
] as const;
export type Part = (typeof PARTS)[number];

/** One line of docs/reliability.md. Written out where it stands, in plain quotes: test/docs.test.ts reads it there. */
export interface Tried {
  /** Its own, in small letters with hyphens. */
  readonly id: string;
  readonly part: Part;
  /** What was done to Runoff. */
  readonly what: string;
  /** What was looked at afterwards, and was so. */
  readonly held: string;
  /** `NAME=all`: without it only some of the cases are played. */
  readonly more?: string;
  /** `NAME=all`: without it none is. */
  readonly only?: string;
}

declare module 'vitest' {
  interface TaskMeta {
    tried?: Tried;
  }
}

/** The test at work is the reason for a line of docs/reliability.md, which is written anew when it has passed. */
export function tried(line: Tried): void {
  const test = TestRunner.getCurrentTest();
  if (!test) throw new Error('`tried` is called outside of a test.');
  test.meta.tried = line;
}
