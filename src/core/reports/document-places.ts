import { z } from 'zod';

/** What a run started from. */
export const BaseDocument = z.strictObject({
  ref: z.string(),
  sha: z.string(),
  uncommitted: z
    .literal(true)
    .optional()
    .describe("It has the uncommitted changes of a local work tree: a commit of Runoff's own."),
});

export const PullDocument = z.strictObject({
  number: z.number(),
  url: z.string(),
  draft: z.boolean(),
  head: z.string(),
  base: z.string(),
  body: z.string(),
});
