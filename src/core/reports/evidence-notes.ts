import { type LeftOut, lacksComparison, type MutantCount } from '../evidence/index.ts';
import { formatList } from '../model/index.ts';
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

/** Inputs that were not tried because others hung, took long or ended the process. */
export function inputNotes({ evidence }: Pick<RunView, 'evidence'>): readonly string[] {
  const on = (where: 'base' | 'own') =>
    evidence.flatMap(({ alias, behaviour }) => (behaviour?.leftOut === where ? [alias] : []));
  const places = on('base').length > 0 ? ['the base commit'] : on('own');
  if (places.length === 0) return [];
  return [
    `Not all inputs on which candidates are compared were tried: on ${formatList(places)}, some hang, take long or end the process.`,
  ];
}

function leftOutText({ what, count, of }: LeftOut): string {
  switch (what) {
    case 'packages':
      return `the tests of ${count} of ${counted(of, 'package')} (those of changed packages, and of packages that depend on them, come first)`;
    case 'repeats':
      return `repeated runs of failing tests (${count} of ${of}; each may take two minutes)`;
    case 'surroundings':
      return 'runs in a second environment';
    case 'probes':
      return count < of ? 'inputs from tests that candidates add' : 'inputs on which candidates are compared';
    case 'peer-tests':
      return `tests by ${count} of ${counted(of, 'candidate')} on the code of the others`;
    case 'mutants':
      return `the tests on ${count} of ${counted(of, 'mutant')}`;
    case 'written-tests':
      return `tests by models (${count} of ${counted(of, 'part')})`;
  }
}

/** How candidates for a task of another kind than code are judged. */
export function kindNotes(evidence: RunView['evidence']): readonly string[] {
  const task = evidence.find((one) => one.task !== undefined)?.task;
  if (task === undefined) return [];
  const caught = evidence.flatMap(({ alias, mutants }) =>
    mutants
      ? [`${alias} catches ${mutants.caught} of ${counted(mutants.total, 'mutant')}${discardedText(mutants)}`]
      : [],
  );
  return [`${KIND_NOTES[task]}${caught.length > 0 ? ` ${caught.join('; ')}.` : ''}`];
}

const discardedText = ({ discarded = 0 }: MutantCount): string =>
  discarded === 0
    ? ''
    : ` (without ${counted(discarded, 'test')} that would fail if only comments or spaces changed)`;

const KIND_NOTES = {
  tests:
    'The task asks for tests. They must pass on the code of the base commit, and are compared by how many of its mutants (copies with one small defect) they catch that the base’s own tests miss.',
  docs: 'The task asks for documentation. Looked at: build, tests, and whether new relative links in Markdown lead to existing files and headings.',
  configuration: 'The task asks for configuration. Looked at: whether the files parse, build and tests.',
} as const;
