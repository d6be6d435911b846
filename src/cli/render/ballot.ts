import {
  type BallotQuestion,
  ballotQuestion,
  type ContestRecords,
  executedText,
  pairsInTurn,
  type SamplePair,
  type Standing,
  type Voter,
} from '../../core/arena/index.ts';
import { counted } from '../../core/model/index.ts';
import { diffLineKinds, visibleCode } from '../../core/reports/index.ts';
import { DIFF_TONES } from './diff.ts';
import { clipped, displayWidth, type Paint, printable } from './terminal.ts';

/** A question as lines for a terminal, and where the answers begin. */
export interface BallotPage {
  /** Harmless and at most as wide as the terminal. */
  readonly lines: readonly string[];
  readonly startOfA: number;
  readonly startOfB: number;
}

interface PageOptions {
  readonly width: number;
  readonly paint: Paint;
  /** Executed results are shown before the vote. */
  readonly showResults: boolean;
}

/**
 * A blind comparison. Task and answers are text of others: controls and invisible characters are spelled out. Nothing
 * names a contestant.
 */
export function ballotPage(
  { task, left, right }: BallotQuestion,
  { width, paint, showResults }: PageOptions,
): BallotPage {
  const statement = task.kind === 'text' ? task.prompt : task.statement;
  const reference = task.kind === 'text' ? task.reference : undefined;
  const heading = (text: string) => paint('strong', ruled(text, width));
  const plain = (text: string) => textLines(text, width);
  const answer = (name: string, { form, answer: text, verification }: BallotQuestion['left']) => [
    heading(`Answer ${name}`),
    ...(showResults && form === 'diff' ? resultLines(executedText(verification), { width, paint }) : []),
    ...(form === 'diff' ? diffLines(text ?? '', { width, paint }) : plain(text ?? '')),
    '',
  ];
  const top = [
    heading(`Task ${printable(task.id)}`),
    ...plain(statement),
    '',
    ...(reference === undefined ? [] : [heading('A good answer, for comparison'), ...plain(reference), '']),
  ];
  const first = answer('A', left);
  return {
    lines: [...top, ...first, ...answer('B', right)],
    startOfA: top.length,
    startOfB: top.length + first.length,
  };
}

/** A text in a line across the terminal. */
function ruled(text: string, width: number): string {
  const start = clipped(`── ${text} `, width);
  return start + '─'.repeat(Math.max(0, width - displayWidth(start)));
}

const resultLines = (text: string, { width, paint }: Omit<PageOptions, 'showResults'>): readonly string[] =>
  textLines(text, width).map((line) => paint('dim', line));

/** Both results of a decided pair, for contests that show them after the vote. */
export const resultsText = ({ left, right }: BallotQuestion): string | null =>
  left.verification === null && right.verification === null
    ? null
    : `A ${executedText(left.verification)}. B ${executedText(right.verification)}.`;

/** The lines of a text, folded to the width; nothing is lost. */
function textLines(text: string, width: number): readonly string[] {
  return visibleCode(text)
    .replace(/\n+$/, '')
    .split('\n')
    .flatMap((line) => folded(line, width));
}

function diffLines(diff: string, { width, paint }: Omit<PageOptions, 'showResults'>): readonly string[] {
  const lines = visibleCode(diff).replace(/\n+$/, '').split('\n');
  const kinds = diffLineKinds(lines);
  return lines.flatMap((line, at) => {
    const tone = DIFF_TONES[kinds[at] ?? 'context'];
    return folded(line, width).map((part) => (tone === null ? part : paint(tone, part)));
  });
}

const TAB = '    ';

function folded(line: string, width: number): readonly string[] {
  const parts: string[] = [];
  let part = '';
  let columns = 0;
  for (const character of line.replaceAll('\t', TAB)) {
    const wide = displayWidth(character);
    if (columns + wide > width) {
      parts.push(part);
      [part, columns] = ['', 0];
    }
    part += character;
    columns += wide;
  }
  return [...parts, part];
}

/** What a terminal shows at a moment. */
interface BallotScreen {
  readonly page: BallotPage;
  /** First line that is shown. */
  readonly top: number;
  readonly rows: number;
  readonly width: number;
  /** About the votes so far, and what happened last. Plain text. */
  readonly status: string;
  readonly paint: Paint;
}

/** Lines of the screen below the page: a rule, the status and the keys. */
const FOOTER_ROWS = 3;

export const rowsOfPage = (rows: number): number => Math.max(1, rows - FOOTER_ROWS);

/** The largest first line that still fills the screen. */
export const lastTop = (page: BallotPage, rows: number): number =>
  Math.max(0, page.lines.length - rowsOfPage(rows));

/** The lines of a screen, exactly as many as it has. */
export function screenLines({ page, top, rows, width, status, paint }: BallotScreen): readonly string[] {
  const room = rowsOfPage(rows);
  const shown = page.lines.slice(top, top + room);
  const below = page.lines.length - top - shown.length;
  const rule = below > 0 ? counted(below, 'more line') : 'end';
  const keys = 'a b better  t tie  s skip  u undo  q quit  ↑ ↓ space scroll  1 2 to A B';
  return [
    ...shown,
    ...Array.from({ length: room - shown.length }, () => ''),
    paint('dim', ruled(rule, width)),
    clipped(printable(status, 1_000), width),
    paint('strong', clipped(keys, width)),
  ];
}

interface BallotListing {
  readonly voter: Voter;
  readonly open: readonly SamplePair[];
  /** Maximum number of pairs. */
  readonly limit: number;
}

/** Open pairs for another program that asks people, as JSON. Nothing names a contestant. */
export function ballotJson(
  { contest, digest }: Pick<ContestRecords, 'contest' | 'digest'>,
  standing: Standing,
  { voter, open, limit }: BallotListing,
) {
  const showResults = contest.votes.results === 'before';
  const questions = pairsInTurn(standing, open, { seed: contest.seed, limit }).flatMap(
    (pair) => ballotQuestion({ contest, standing }, pair) ?? [],
  );
  const side = ({ id, form, answer, verification }: BallotQuestion['left']) => ({
    sample: id,
    form,
    answer,
    ...(showResults && verification ? { executed: executedText(verification) } : {}),
  });
  return {
    contest: contest.name,
    version: digest,
    voter: voter.kind === 'person' ? voter.name : voter.model,
    results: contest.votes.results,
    open: open.length,
    pairs: questions.map(({ task, left, right }) => ({
      task: task.id,
      statement: task.kind === 'text' ? task.prompt : task.statement,
      ...(task.kind === 'text' && task.reference !== undefined ? { reference: task.reference } : {}),
      left: side(left),
      right: side(right),
    })),
  };
}
