import { openInquiry } from '../../core/brief/index.ts';
import { byAlias, type Candidate, formatList } from '../../core/model/index.ts';
import {
  CANDIDATE_STATE_LABELS,
  type CandidateView,
  contestantName,
  costText,
  dollars,
  elapsed,
  examinationTimeLeft,
  HIDDEN,
  money,
  progressLabel,
  queueText,
  type RunView,
  sequencePlan,
  shortContestantNames,
  stepTime,
  tokensText,
} from '../../core/reports/index.ts';
import { clipped, displayWidth, padded, painter, printable, type Tone, wrap } from './terminal.ts';

interface ProgressColumn {
  readonly width: number;
  readonly side: 'left' | 'right';
  readonly text: (candidate: CandidateView) => string;
}

const GAP = '  ';
/** A contestant's name is cut at this width, and omitted if there is too little space for it. */
const NAME_COLUMNS = 48;
const MIN_NAME_COLUMNS = 8;
/** A note shorter than this is useless, so the contestant's name is shortened for it. */
const MIN_NOTE_COLUMNS = 16;

/** The display of an active run: a header and a line for each candidate, none wider than `width` columns. */
export function renderProgress(view: RunView, width: number, colour: boolean): readonly string[] {
  const paint = painter(colour);
  const columns = columnsFor(view, width);
  return [
    paint('strong', clipped(header(view), width)),
    ...view.candidates.toSorted(byAlias).map((candidate) => {
      const cells = columns.map((column) => padded(column.text(candidate), column.width, column.side));
      return paint(TONES[candidate.state], clipped(cells.join(GAP).trimEnd(), width));
    }),
    ...planLines(view).flatMap((line) => indented(line, width)),
    ...waitingLines(view).flatMap((line) => indented(line, width)),
  ];
}

const TONES = {
  queued: 'dim',
  coding: 'strong',
  coded: 'good',
  examining: 'strong',
  examined: 'good',
  failed: 'bad',
  cancelled: 'dim',
} as const satisfies Record<Candidate['state'], Tone>;

/** Cost of the whole run so far, and its budget. */
export const spentText = ({ budget }: Pick<RunView, 'budget'>): string =>
  budget.run > 0 ? `${money(budget.spent)} of $${dollars(budget.run)}` : money(budget.spent);

function header(view: RunView): string {
  const step = stepTime(view);
  const place = step === null ? progressLabel(view) : `${progressLabel(view)}, ${step}`;
  // The longest part is last, so that a narrow terminal cuts neither time nor cost.
  return [`Runoff ${view.id}`, elapsed(view.now - view.startedAt), spentText(view), place].join(GAP);
}

const usedTokens = ({ usage }: CandidateView): string => (usage ? `${tokensText(usage)} tok` : HIDDEN);

function columnsFor(view: RunView, width: number): readonly ProgressColumn[] {
  const right: readonly ProgressColumn[] = [
    { width: 9, side: 'left', text: (candidate) => CANDIDATE_STATE_LABELS[candidate.state] },
    { width: 7, side: 'right', text: (candidate) => elapsed(candidate.ms) },
    { width: 10, side: 'right', text: usedTokens },
    { width: 8, side: 'right', text: (candidate) => costText(candidate.usage) },
  ];
  const alias: ProgressColumn = {
    width: 1,
    side: 'left',
    text: (candidate) => printable(candidate.alias, 2),
  };
  const roomBeside = (columns: readonly ProgressColumn[]): number =>
    width - columns.reduce((sum, column) => sum + column.width + GAP.length, 0);
  const name = nameColumn(view, roomBeside([alias, ...right]) - MIN_NOTE_COLUMNS - GAP.length);
  const layout = name === null ? [alias, ...right] : [alias, name, ...right];
  const note = roomBeside(layout);
  if (note < 1) return layout;
  return [...layout, { width: note, side: 'left', text: (candidate) => printable(candidate.note, 200) }];
}

/** The contestant's full name if there is space, else the part that differs from the others, else nothing. */
function nameColumn(view: RunView, maxWidth: number): ProgressColumn | null {
  const widest = (text: ProgressColumn['text']): number =>
    Math.max(0, ...view.candidates.map((one) => displayWidth(text(one))));
  const whole = Math.min(widest(candidateLabel), NAME_COLUMNS);
  if (whole <= maxWidth) return { width: whole, side: 'left', text: candidateLabel };
  const names = shortContestantNames(view.candidates.map(({ contestant }) => contestant));
  const shortNameOf = ({ alias }: CandidateView): string =>
    printable(names[view.candidates.findIndex((one) => one.alias === alias)] ?? '', 60);
  const short = Math.min(widest(shortNameOf), maxWidth);
  return short < MIN_NAME_COLUMNS ? null : { width: short, side: 'left', text: shortNameOf };
}

const candidateLabel = (candidate: CandidateView): string =>
  printable(contestantName(candidate.contestant), 80);

/** Changes since the last view, one line each, for output that is not a terminal. No changes: no lines. */
export function progressLine(previous: RunView | null, view: RunView): readonly string[] {
  const time = padded(elapsed(view.now - view.startedAt), 7, 'right');
  const lines: string[] = [];
  const label = progressLabel(view);
  const left = examinationTimeLeft(view);
  if (previous?.state !== view.state || progressLabel(previous) !== label)
    lines.push(`${time}  ${label}${left === null ? '' : `, ${left}`}`);
  if (previous?.sequence?.firstUsd !== view.sequence?.firstUsd)
    lines.push(...planLines(view).map((line) => `${' '.repeat(9)}${line}`));
  if (isNewQuestion(previous, view))
    lines.push(...waitingLines(view).map((line) => `${' '.repeat(9)}${line}`));
  for (const candidate of view.candidates.toSorted(byAlias)) {
    const before = previous?.candidates.find((one) => one.alias === candidate.alias);
    if (before?.state === candidate.state && before.note === candidate.note) continue;
    lines.push(`${time}  ${printable(candidate.alias, 2)}: ${change(candidate, before)}`);
  }
  return lines;
}

/** What a sequential field will probably cost. */
function planLines(view: RunView): readonly string[] {
  const plan = sequencePlan(view);
  return plan === null ? [] : [plan];
}

function indented(line: string, width: number): readonly string[] {
  const indent = line.slice(0, line.length - line.trimStart().length);
  return wrap(line.trimStart(), width - indent.length).map((part) => `${indent}${part}`);
}

const isNewQuestion = (previous: RunView | null, view: RunView): boolean =>
  previous?.state !== view.state || previous.dialogue?.inquiries.length !== view.dialogue?.inquiries.length;

/** A note that the last line had belongs to the state before: the last one of a coder is `done`, for example. */
function change(candidate: CandidateView, before: CandidateView | undefined): string {
  const note = before?.note === candidate.note ? '' : printable(candidate.note, 160);
  const what =
    note === ''
      ? CANDIDATE_STATE_LABELS[candidate.state]
      : `${CANDIDATE_STATE_LABELS[candidate.state]}, ${note}`;
  return !candidate.usage?.calls ? what : `${what} (${usedTokens(candidate)}, ${money(candidate.usage.usd)})`;
}

/**
 * The pending questions of the run and the commands that answer them, one line each; none if it does not wait for
 * people.
 */
function waitingLines(view: RunView): readonly string[] {
  if (view.queue) return [queueText(view, { sentence: (why) => printable(why, 400) })];
  const waits = view.state === 'awaiting_answer' || view.state === 'awaiting_approval';
  const open = waits && view.dialogue ? openInquiry(view.dialogue) : null;
  if (!open) return [];
  const left = `${elapsed(open.until - view.now)} left`;
  if (open.kind === 'approval') {
    return [
      `Waiting for plan approval (${left}):`,
      ...(view.brief?.plan ?? []).map((step, at) => `  ${at + 1}. ${printable(step, 500)}`),
      `  → runoff approve ${view.id}`,
      `  → runoff revise ${view.id} "what should be different"`,
    ];
  }
  const { text, options } = open.question;
  return [
    `Waiting for an answer (${left}): ${printable(text, 400)}`,
    ...options.map((option, at) => `  ${at + 1}. ${printable(option, 200)}`),
    ...(options.length > 0 ? [`  → runoff answer ${view.id} 1`] : []),
    `  → runoff answer ${view.id} "in your own words"`,
  ];
}

/** After a run was stopped before its end: what is kept, what is repeated, and how to go on. */
export function stoppedText(view: RunView): readonly string[] {
  const named = (states: readonly Candidate['state'][]): string =>
    formatList(
      view.candidates
        .toSorted(byAlias)
        .filter(({ state }) => states.includes(state))
        .map(({ alias }) => printable(alias, 2)),
    );
  const [coded, coding] = [named(['coded', 'examining', 'examined']), named(['coding'])];
  return [
    `Run ${view.id} is stopped at ${progressLabel(view)}. Spent so far: ${spentText(view)}.`,
    `Kept: every finished stage${coded === '' ? '' : `, and the patches of ${coded}`}.`,
    ...(coding === ''
      ? []
      : [`Repeated: ${coding}. Model answers that arrived are kept and cost nothing again.`]),
    '',
    `  runoff resume ${view.id}   # continue`,
    `  runoff cancel ${view.id}   # cancel it`,
  ];
}
