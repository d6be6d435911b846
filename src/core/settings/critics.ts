import { z } from 'zod';

/** Five personas are built in; operators add more by adding files. */
const PersonaName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,40}$/, 'name personas with lower-case letters, digits and hyphens');

/** Shares and counts are defaults, to be tuned on dev data. */
export const Critics = z.strictObject({
  agents: z
    .array(PersonaName)
    .min(1)
    .max(8)
    .refine((names) => new Set(names).size === names.length, { error: 'name each persona once' })
    .default(['qa', 'product', 'security'])
    .describe(
      'Personas of the critics: `security`, `oncall`, `product`, `performance`, `qa`, or personas that the operator added.',
    ),
  maxRounds: z.number().int().min(1).max(10).default(5).describe('Maximum number of rounds of a debate.'),
  requiredForConsensus: z
    .number()
    .int()
    .min(1)
    .max(8)
    .optional()
    .describe('Number of critics that must approve. Default: all.'),
  focusAreas: z
    .array(z.string().min(1).max(100))
    .max(8)
    .default([])
    .describe('Topics that critics check first, such as `data migration`.'),
  assign: z
    .enum(['fixed', 'rotating'])
    .default('fixed')
    .describe('`rotating`: each critic uses another model in each round; `fixed`: always the same one.'),
  share: z
    .number()
    .min(0.01)
    .max(0.5)
    .default(0.15)
    .describe('Maximum share of `budget.run` that a debate may cost.'),
});
