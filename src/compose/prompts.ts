import { readPrompts } from '../adapters/prompts/index.ts';
import type { Operator } from '../core/policy/index.ts';
import { OWN } from './paths.ts';

/** Our prompts, with those that the operator puts in their place. */
export const promptsOf = (operator: Operator) =>
  readPrompts({
    planner: OWN.planner,
    critic: OWN.critic,
    synthesiser: OWN.synthesiser,
    judge: OWN.judge,
    neutral: OWN.neutral,
    distinguish: OWN.distinguish,
    reviewer: OWN.reviewer,
    coder: OWN.coderPrompts,
    personas: OWN.personas,
    overrides: operator.prompts,
  });
