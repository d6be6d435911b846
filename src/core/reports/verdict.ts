import { counted } from './format.ts';
import { chosenWords, evidenceSaid, votesLine } from './picked.ts';
import { code, sentence } from './safe.ts';
import { contestedQuestion } from './test-facts.ts';
import type { RunView } from './view.ts';
import { movedLines, testedWords, weakerLines } from './where.ts';

/** The first thing a reader sees: who won, how sure that is, what decided it. */
export const verdictSection = (view: RunView): string =>
  joined([
    `### ${chosenWords(view) || nobodyLine(view)}`,
    evidenceSaid(view),
    votesLine(view),
    ...runLines(view),
  ]);

/** What holds for the whole run: how many candidates, where they were tested, what weakens that, what a person is asked. */
export function runLines(view: RunView): readonly string[] {
  const question = contestedQuestion(view);
  return [
    `Run ${code(view.id)}: ${counted(view.candidates.length, 'candidate')}, ${testedWords(view)} on the same base commit.`,
    ...movedLines(view),
    ...weakerLines(view),
    question === null ? '' : `**A question for you.** ${sentence(question, 1_500)}`,
  ];
}

export const joined = (blocks: readonly string[]): string =>
  blocks.filter((block) => block !== '').join('\n\n');

function nobodyLine(view: RunView): string {
  return view.candidates.length === 1 ? 'The candidate did not pass' : 'No candidate passed';
}
