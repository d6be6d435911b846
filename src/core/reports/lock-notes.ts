import { unlockedOf } from '../evidence/index.ts';
import { namesInSentence } from './format.ts';
import type { RunView } from './view.ts';

/** Where assertion libraries could not be locked, one sentence each: plain text. */
export function lockNotes({ evidence }: Pick<RunView, 'evidence'>): readonly string[] {
  const survivors = evidence.filter(({ survivor }) => survivor);
  const unrecorded = survivors.filter((one) => ['unrecorded', 'differs'].includes(unlockedOf(one) ?? ''));
  return [
    ...(survivors.some((one) => unlockedOf(one) === 'base')
      ? [
          'Assertion libraries were not locked where survivors ran again, because more tests of the base commit fail with the lock. So only reading a patch shows whether it replaces an assertion.',
        ]
      : []),
    ...(unrecorded.length > 0
      ? [
          `Nothing shows that assertion libraries were locked when the tests ran again on ${namesInSentence(unrecorded.map(({ alias }) => alias))}, unlike on the base commit. Please look for code that replaces assertions or removes files.`,
        ]
      : []),
  ];
}
