import { z } from 'zod';

/** One line of answer. */
export const SelectAnswer = z.object({
  /** The request's. */
  id: z.union([z.string(), z.number()]),
  /** Id of the candidate that is picked; null where it abstains. */
  pick: z.string().nullable(),
  /** How likely the pick is right, 0 to 1, measured on patches whose outcome is known; 0 without a pick. */
  confidence: z.number().min(0).max(1),
  /** Best first. */
  ranking: z.array(
    z.object({
      id: z.string(),
      /** More is better, within one answer only. Of what was executed: logarithm of odds; otherwise agreement, 0 to 1. */
      score: z.number(),
      /** One or more sentences: why it stands here. */
      because: z.string(),
    }),
  ),
  /** What put the first before the second. */
  decidedBy: z.string(),
  /** The decision in a sentence or two. */
  because: z.string(),
});
export type SelectAnswer = z.infer<typeof SelectAnswer>;
