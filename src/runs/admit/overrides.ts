import { z } from 'zod';
import { CoderSetting, EVALUATORS, fullModelName, type Settings, WHEN } from '../../core/settings/index.ts';
import { leavesFieldOpen } from '../contestants.ts';

/** Settings overridden on the command line or by a command on GitHub; the operator's ceilings still apply. */
export const Overrides = z.strictObject({
  candidates: z.number().int().min(1).optional(),
  coders: z.array(CoderSetting).min(1).optional(),
  /** Prompt variants, assigned in turn to the coders. */
  prompts: z.array(z.string().min(1)).min(1).optional(),
  evaluator: z.array(z.enum(EVALUATORS)).min(1).optional(),
  timeoutSeconds: z.number().int().positive().optional(),
  budgetUsd: z.number().positive().optional(),
  debate: z.enum(WHEN).optional(),
  /** `plan`: coders start when a person has approved the brief. */
  approval: z.literal('plan').optional(),
  review: z.enum(WHEN).optional(),
  synthesis: z.boolean().optional(),
  /** Commands of a local run; empty: none. */
  checks: z
    .strictObject({ setup: z.string().optional(), build: z.string().optional(), test: z.string().optional() })
    .optional(),
  /** Whether someone is available to answer questions. */
  ask: z.boolean().optional(),
});
export type Overrides = z.infer<typeof Overrides>;

/**
 * The settings with what was asked for this run, and with the full names of models. `providers`: those that have a
 * key.
 */
export function applyOverrides(
  settings: Settings,
  overrides: Overrides,
  providers: readonly string[],
): Settings {
  const { candidates, evaluator, timeoutSeconds, budgetUsd, ask } = overrides;
  const coders = codersFrom(settings, overrides);
  const isOpen = coders !== undefined && leavesFieldOpen({ coders });
  const count = candidates ?? (coders && !isOpen ? Math.max(coders.length, 1) : settings.candidates);
  return {
    ...settings,
    candidates: count,
    coders: withFullNames(coders ?? settings.coders, providers),
    evaluator: evaluator ?? settings.evaluator,
    debate: overrides.debate ?? settings.debate,
    approval: overrides.approval ?? settings.approval,
    review: overrides.review ?? settings.review,
    synthesis: overrides.synthesis ?? settings.synthesis,
    checks: { ...settings.checks, ...overrides.checks },
    answer: { ...settings.answer, ...(ask === undefined ? {} : { ask }) },
    timeout: { ...settings.timeout, ...(timeoutSeconds ? { candidate: timeoutSeconds } : {}) },
    budget: budgetUsd
      ? { ...settings.budget, run: budgetUsd, candidate: Math.min(settings.budget.candidate, budgetUsd) }
      : settings.budget,
  };
}

/** The coders that are asked for; undefined: those of the settings. Coders and prompts are assigned in turn. */
function codersFrom({ coders }: Settings, asked: Overrides): Settings['coders'] | undefined {
  const { prompts } = asked;
  if (!prompts) return asked.coders;
  const those = asked.coders ?? coders;
  return Array.from({ length: Math.max(those.length, prompts.length) }, (_, i) => ({
    ...(those[i % those.length] as CoderSetting),
    prompt: prompts[i % prompts.length] as string,
  }));
}

export const withFullNames = (coders: Settings['coders'], providers: readonly string[]): Settings['coders'] =>
  coders.map(({ model, ...coder }) => ({
    ...coder,
    ...(model === undefined ? {} : { model: fullModelName(model, providers) }),
  }));
