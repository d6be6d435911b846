import type { Profile } from './profile.ts';
import type { AgreeingPatch, Guard } from './types.ts';

/** Lines that go out of tests when behaviour changes on purpose are few. Our default, tuned on known outcomes. */
const MOST_TEST_LINES_GONE = 10;

/** `key` is the patch's `normalised` text. In the order of `GUARDS`. */
export function guardsOf(patch: AgreeingPatch, profile: Profile, key: string): readonly Guard[] {
  const checks: readonly (readonly [Guard, boolean])[] = [
    ['does-not-apply', patch.applies === false],
    ['no-source-change', !profile.hasSource],
    ['no-effective-change', profile.changedLines === 0 && key === ''],
    ['unbalanced-brackets', profile.unbalanced > 0],
    ['removes-tests', testLinesGone(profile) > MOST_TEST_LINES_GONE],
    ['scratch-files', profile.files.some(({ use }) => use === 'scratch')],
  ];
  return checks.flatMap(([guard, holds]) => (holds ? [guard] : []));
}

const testLinesGone = ({ files }: Profile): number =>
  files
    .filter(({ use, created }) => use === 'test' && !created)
    .flatMap(({ hunks }) => hunks)
    .reduce((total, { lines }) => total + lines.filter(({ kind }) => kind === 'removed').length, 0);
