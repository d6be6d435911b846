import { TestRunner } from 'vitest';
import { z } from 'zod';

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
export const Tried = z.object({
  /** Its own, in small letters with hyphens. */
  id: z.string(),
  part: z.enum(PARTS),
  /** What was done to Runoff. */
  what: z.string(),
  /** What was looked at afterwards, and was so. */
  held: z.string(),
  /** `NAME=all`: without it only some of the cases are played. */
  more: z.string().exactOptional(),
  /** `NAME=all`: without it none is. */
  only: z.string().exactOptional(),
});
export type Tried = Readonly<z.infer<typeof Tried>>;

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
