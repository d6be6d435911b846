import type { ExecutorRecord } from '../ports/index.ts';

/** Work that waits without end because no process takes it, each a sentence with what to do. */
export function untaken(
  executors: readonly Pick<ExecutorRecord, 'coders' | 'examinations' | 'silentMs'>[],
): readonly string[] {
  const living = executors.filter(({ silentMs }) => silentMs !== null);
  const nobody = (most: 'coders' | 'examinations') => living.every((one) => one[most] === 0);
  return [
    ...(nobody('coders')
      ? [
          'No process takes coders, so that runs wait: start `runoff worker`, or set CODERS_PER_WORKER above 0.',
        ]
      : []),
    ...(nobody('examinations')
      ? [
          'No process builds and tests candidates, so that runs wait: start `runoff worker`, or set EXAMINATIONS_PER_WORKER above 0.',
        ]
      : []),
  ];
}
