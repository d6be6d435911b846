/**
 * The stages in order of execution. The step `base` (`src/runs/recipe`) runs beside `brief` and is none of them: no
 * state says that it is over, and what it finds goes to `code` and `examine`.
 */
export const STAGES = ['admit', 'brief', 'code', 'examine', 'judge', 'publish'] as const;
export type Stage = (typeof STAGES)[number];
