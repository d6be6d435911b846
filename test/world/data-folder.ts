import { inject } from 'vitest';
import { furnishFrom } from './prepared-data-folder.ts';

/** `furnishFrom` with the folder of this test run. */
export const furnish = (data: string): Promise<void> => furnishFrom(inject('furnishedData'), data);
