import { inject } from 'vitest';
import { onStage, type Stage, type StageOptions } from './stage.ts';

/** `onStage` with the data folder of this test run. */
export const onChaosStage = (
  work: (stage: Stage) => Promise<void>,
  options: Omit<StageOptions, 'furnished'> = {},
): Promise<void> => onStage(work, { ...options, furnished: inject('furnishedData') });
