import type { Question } from '../model/index.ts';
import { oneLine } from '../prompts/index.ts';
import { isUnsettled, questionOf } from './ledger.ts';
import type { AcceptanceTest, Debate } from './types.ts';

/** Questions that a debate leaves to a person: those it asks, and blocking issues on which nobody gave way. */
export function questionsOf({ ledger }: Pick<Debate, 'ledger'>): readonly Question[] {
  return ledger.flatMap((entry): Question[] => {
    const { fate, severity } = entry;
    if (fate.kind === 'asked') return [{ ...fate.question, severity }];
    return severity === 'blocking' && isUnsettled(entry) ? [questionOf(entry)] : [];
  });
}

/** One line, as coders and writers of tests read it. */
export const acceptanceLine = ({ given, expect }: AcceptanceTest): string =>
  `Given ${oneLine(given)}: ${oneLine(expect)}`.slice(0, 800);
