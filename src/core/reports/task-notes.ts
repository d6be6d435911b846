import type { MutantCount } from '../evidence/index.ts';
import { counted } from './format.ts';
import type { RunView } from './view.ts';

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
