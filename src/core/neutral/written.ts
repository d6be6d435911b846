import { z } from 'zod';

/** Tests that a writer may hand in; 6 to 8 are asked for (selection notes, S4). */
export const MOST_TESTS = 8;
/** UTF-8 bytes of one test file. Our default. */
export const MOST_BYTES = 20_000;

/** One test file as a model hands it in. It says nothing about where the file stands (I6). */
export const WrittenTest = z.object({
  title: z.string().min(1).max(200).describe('What the test checks, in one line.'),
  quote: z
    .string()
    .min(1)
    .max(1_000)
    .describe('The words of the task or the brief, copied exactly, that the expected result rests on.'),
  why: z.string().max(600).describe('Why these words mean this expected result. Empty when it is plain.'),
  now: z
    .enum(['fails', 'passes'])
    .describe(
      'What the test does on the code as it is now: `fails` for what is asked for, `passes` for what must stay as it is.',
    ),
  file: z.string().min(1).max(MOST_BYTES).describe('The whole text of the test file.'),
});
export type WrittenTest = z.infer<typeof WrittenTest>;

const note = z.string().max(600).describe('What could not be tested and why. Empty when nothing.');

/** What the writer of neutral tests answers. */
export const WrittenTests = z.object({
  tests: z.array(WrittenTest).max(MOST_TESTS).describe('In the order of the paths given.'),
  note,
});
export type WrittenTests = z.infer<typeof WrittenTests>;

/** What the writer of a distinguishing test answers. */
export const DistinguishingTest = z.object({
  test: WrittenTest.nullable().describe('Null when the brief does not say which behaviour is right.'),
  note,
});
export type DistinguishingTest = z.infer<typeof DistinguishingTest>;
