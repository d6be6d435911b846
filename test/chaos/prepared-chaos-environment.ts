import { inject } from 'vitest';
import {
  type ChaosEnvironment,
  type ChaosEnvironmentOptions,
  withChaosEnvironment,
} from './chaos-environment.ts';

/** `withChaosEnvironment` with the data folder of this test run. */
export const withPreparedChaosEnvironment = (
  work: (environment: ChaosEnvironment) => Promise<void>,
  options: Omit<ChaosEnvironmentOptions, 'furnished'> = {},
): Promise<void> => withChaosEnvironment(work, { ...options, furnished: inject('furnishedData') });
