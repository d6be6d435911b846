import type { Picked } from '../decision/index.ts';
import { counted } from './format.ts';
import { code, sentence } from './safe.ts';
import { contestedQuestion } from './test-facts.ts';
import type { RunView } from './view.ts';
import { testedWords, weakerLines } from './where.ts';
import { verdictWords } from './words.ts';

/** The first thing a reader sees: who won, how sure that is, what decided it. */
export function verdictSection(view: RunView): string {
  const decision = view.decision;
  const question = contestedQuestion(view);
  const heading = decision && decision.kind !== 'none' ? pickedLine(decision) : nobodyLine(view);
  return [
    `### ${heading}`,
    decision === undefined ? '' : sentence(decision.because, 600),
    `Run ${code(view.id)}: ${counted(view.candidates.length, 'candidate')}, ${testedWords(view)} on the same base commit.`,
    ...weakerLines(view),
    question === null ? '' : `**A question for you.** ${sentence(question, 1_500)}`,
  ]
    .filter((block) => block !== '')
    .join('\n\n');
}

const pickedLine = (decision: Picked): string => `**${decision.alias}** — ${verdictWords(decision)}`;

function nobodyLine(view: RunView): string {
  return view.candidates.length === 1 ? 'The candidate did not pass' : 'No candidate passed';
}
