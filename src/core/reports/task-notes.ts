import { counted } from './format.ts';
import type { RunView } from './view.ts';

/** How candidates for a task of another kind than code are judged. */
export function kindNotes(evidence: RunView['evidence']): readonly string[] {
  const task = evidence.find((one) => one.task !== undefined)?.task;
  if (task === undefined) return [];
  const caught = evidence.flatMap(({ alias, mutants }) =>
    mutants ? [`${alias} catches ${mutants.caught} of ${counted(mutants.total, 'mutant')}`] : [],
  );
  return [`${KIND_NOTES[task]}${caught.length > 0 ? ` ${caught.join('; ')}.` : ''}`];
}

const KIND_NOTES = {
  tests:
    'The task asks for tests. They must pass on the code of the base commit, and are compared by how many of its mutants (copies with one small defect) they catch.',
  docs: 'The task asks for documentation. Looked at: build, tests, and whether new relative links in Markdown lead to existing files and headings.',
  configuration: 'The task asks for configuration. Looked at: whether the files parse, build and tests.',
} as const;
