import type { JudgedPair, Judgement } from '../../core/judging/index.ts';
import type { Alias } from '../../core/model/index.ts';
import { counted, money, type RunView } from '../../core/reports/index.ts';
import { clipped, type Paint, printable, wrap } from './terminal.ts';

/** Maximum code points of a judge's reason. */
const MAX_REASON = 500;

/** What blind judges said, with each match; empty if none were asked. A knockout has one match for each pair that met. */
export function judgesLines({ judgement }: RunView, width: number, paint: Paint): readonly string[] {
  if (!judgement) return [];
  return [
    paint('strong', clipped('Judges (opinions, not executed)', width)),
    ...item(judgesSummary(judgement), width),
    ...judgement.pairs.flatMap((pair) => matchLines(pair, width)),
    ...judgement.notes.flatMap((note) => item(note, width)),
  ];
}

const judgesSummary = ({ because, quorum, spent }: Judgement): string =>
  `${because} ${quorum.answered} of ${counted(quorum.asked, 'judge')} answered, for ${money(spent.usd)}.`;

/** The matches of one candidate, with each judge's reason. */
export const matchesOf = ({ judgement }: RunView, alias: Alias, width: number): readonly string[] =>
  (judgement?.pairs ?? [])
    .filter(({ a, b }) => a === alias || b === alias)
    .flatMap((pair) => matchLines(pair, width));

function matchLines({ a, b, byJudge, alike }: JudgedPair, width: number): readonly string[] {
  if (alike) return item(`${a} and ${b} have the same changes, so no judge was asked.`, width);
  const count = (outcome: 'a' | 'b' | 'tie') => byJudge.filter((one) => one.outcome === outcome).length;
  const ties = count('tie');
  const score = `${a} ${count('a')} : ${count('b')} ${b}${ties > 0 ? `, ${counted(ties, 'tie')}` : ''}`;
  const won = { a, b, tie: 'neither' } as const;
  return [
    ...item(score, width),
    ...byJudge.flatMap(({ judge, outcome, consistent, because }) => {
      const order = consistent ? '' : ' (its answer changed with the order)';
      return wrappedUnder(`${judge} prefers ${won[outcome]}${order}: ${because}`, '      ', width);
    }),
  ];
}

const item = (text: string, width: number): readonly string[] =>
  wrappedUnder(text, '    ', width).map((line, index) => (index === 0 ? `  - ${line.trimStart()}` : line));

const wrappedUnder = (text: string, indent: string, width: number): readonly string[] =>
  wrap(printable(text, MAX_REASON), width - indent.length).map((line) => `${indent}${line}`);
