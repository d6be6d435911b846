import type { JudgedPair, Judgement, JudgeRecord } from '../judging/index.ts';
import type { Alias } from '../model/index.ts';
import { counted, money } from './format.ts';
import { details, fill } from './layout.ts';
import { code, prose, sentence } from './safe.ts';
import type { RunView } from './view.ts';

/** Code points of what one judge said of one pair, of a note, and of a place in a patch. */
const WORDS = 240;
const NOTE = 200;
const PLACE = 160;

/** What blind judges said, apart from what was executed: an opinion, with who was asked and whom we did not believe. */
export function judgesSection({ judgement }: RunView, room: number): string {
  if (!judgement) return '';
  const { judges, quorum, because, notes, addresses, spent } = judgement;
  const head = `#### What models said\n\nBlind judges compared the undecided candidates without knowing whose they are. None of it was executed, and it makes nobody win that failed a gate.`;
  const lines = [
    `- ${sentence(because, WORDS)} Heard: ${quorum.heard} of ${counted(quorum.asked, 'judge')}, for ${money(spent.usd)}.`,
    ...judges.map(judgeLine),
    ...notes.map((note) => `- ${sentence(note, NOTE)}`),
    ...addresses.map(
      ({ alias, file, line, what }) =>
        `- **Look twice at ${alias}:** ${code(`${file}:${line}`, PLACE)} ${sentence(what, NOTE)} Judges did not see it.`,
    ),
  ];
  const list = fill(lines, Math.floor(room / 2) - head.length, {
    separator: '\n',
    more: (left) => `- (${counted(left, 'more line')}, left out for length)`,
  });
  const words = pairLines(judgement);
  const summary = 'What they said of each pair';
  const frame = details(summary, '').length;
  const folded = fill(words, room - head.length - list.length - frame - 4, {
    separator: '\n',
    more: (left) => `- (${counted(left, 'more line')}, left out for length)`,
  });
  return [head, list, folded === '' ? '' : details(summary, folded)]
    .filter((block) => block !== '')
    .join('\n\n');
}

function judgeLine({ judge, model, asked, heard, discarded, ownFamily }: JudgeRecord): string {
  const own = ownFamily ? ', of which a candidate is by its own family' : '';
  const why = discarded ? `. Not believed: ${sentence(discarded, NOTE)}` : '';
  return `- ${code(judge, 40)} (${code(model, 80)}): ${heard} of ${counted(asked, 'answer')} could be used${own}${why}`;
}

const pairLines = ({ pairs }: Judgement): readonly string[] => pairs.flatMap((pair) => wordsOf(pair));

/** What judges said of the pairs that a candidate is in, a line each. A model's words, made inert. */
export function judgesOn({ judgement }: RunView, alias: Alias): readonly string[] {
  return (judgement?.pairs ?? []).filter(({ a, b }) => a === alias || b === alias).flatMap(wordsOf);
}

function wordsOf({ a, b, byJudge, alike }: JudgedPair): readonly string[] {
  if (alike) return [`- **${a}** and **${b}** read the same, so that nobody was asked`];
  const won = { a: `prefers **${a}**`, b: `prefers **${b}**`, tie: 'sees no difference' } as const;
  return byJudge.map(({ judge, outcome, consistent, because }) => {
    const order = consistent ? '' : ' (its answer changed with the order, which counts as a tie)';
    return `- **${a}** and **${b}**: ${code(judge, 40)} ${won[outcome]}${order}. It says: ${prose(because, WORDS)}`;
  });
}
