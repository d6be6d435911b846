import type { Objection } from '../../core/judging/index.ts';
import { counted, criticSaid, FATE_WORDS, placeAfter, type RunView } from '../../core/reports/index.ts';
import { type Paint, shown, wrap } from './terminal.ts';

const INDENT = '     ';

/** What critics said of whoever was first, for a terminal. */
export function review({ review: all = [] }: RunView, width: number, paint: Paint): readonly string[] {
  if (all.length === 0) return [];
  const inner = width - INDENT.length;
  const item = (text: string, mark: string) =>
    wrap(shown(text, 700), inner - 2).map((line, i) => `${i === 0 ? mark : `${INDENT}  `}${line}`);
  return [
    paint('strong', 'Review of the winner'),
    ...all.flatMap((one) => [
      ...wrap(
        shown(placeAfter(one, all) || `It was put before ${counted(one.critics.length, 'critic')}.`, 600),
        inner,
      ).map((line, i) => (i === 0 ? `  ${one.alias}  ${line}` : `${INDENT}${line}`)),
      ...one.critics.flatMap((report) => [
        ...item(`${report.critic} ${criticSaid(report)}`, `${INDENT}- `),
        ...('objections' in report
          ? report.objections.flatMap((each) => item(objection(each), `${INDENT}  `))
          : []),
      ]),
    ]),
  ];
}

const objection = ({ file, line, input, expected, got, fate }: Objection): string =>
  `${FATE_WORDS[fate]}: ${file}:${line}, input ${input}: expected ${expected}, got ${got}`;
