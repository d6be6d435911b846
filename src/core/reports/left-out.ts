import { type LeftOut, lacksComparison } from '../evidence/index.ts';
import { counted, elapsed } from './format.ts';
import type { RunView } from './view.ts';

/** What was skipped for lack of time. */
export function cutNotes({ evidence }: Pick<RunView, 'evidence'>): readonly string[] {
  const cut = evidence.find((one) => one.cut)?.cut;
  if (!cut) return [];
  const parts = cut.leftOut.map(leftOutText).join(', ');
  const limit = `\`timeout.examine\` (${elapsed(cut.budgetMs)})`;
  const unclear = lacksComparison(cut) ? ' Without them, no result is called clear.' : '';
  return [
    `The time for examining, ${limit}, was over before all was executed. Left out: ${parts}. They count neither for nor against a candidate.${unclear}`,
  ];
}

function leftOutText({ what, count, of }: LeftOut): string {
  switch (what) {
    case 'packages':
      return `the tests of ${count} of ${counted(of, 'package')} (those of changed packages, and of packages that depend on them, come first)`;
    case 'repeats':
      return `repeated runs of failing tests (${count} of ${of})`;
    case 'surroundings':
      return 'runs in other surroundings';
    case 'probes':
      return 'probes';
    case 'peer-tests':
      return `tests by ${count} of ${counted(of, 'candidate')} on the code of the others`;
    case 'mutants':
      return `the tests on ${count} of ${counted(of, 'mutant')}`;
    case 'written-tests':
      return `tests by models (${count} of ${counted(of, 'part')})`;
  }
}
