import type { Inquiry } from '../brief/index.ts';
import {
  type CriticTurn,
  type Debate,
  type DebateRound,
  type LedgerEntry,
  specDiff,
} from '../debate/index.ts';
import type {
  CriticReport,
  JudgedPair,
  Judgement,
  JudgeRecord,
  Objection,
  WinnerReview,
} from '../judging/index.ts';
import type { Alias, Brief, Question } from '../model/index.ts';
import { counted, DEBATE_STOP_LABELS, money } from './format.ts';
import { code, details, fencedDiff, fill, inertSentence, prose, table } from './markdown.ts';
import { overlapGap, overlapLines } from './overlaps.ts';
import type { RunView } from './view.ts';

const SUMMARY = 'The brief given to every coder';

/** The brief, folded. Every line is escaped, because a model wrote it. */
export function briefSection(view: RunView, maxLength: number): string {
  if (view.brief === undefined) return '';
  const frame = details(SUMMARY, '').length;
  const body = fill(lines(view.brief, view), maxLength - frame, {
    separator: '\n',
    more: (left) => `\n(${left} more lines, omitted for length)`,
  });
  return body === '' ? '' : details(SUMMARY, body);
}

function lines(brief: Brief, { dialogue, checks }: RunView): readonly string[] {
  const { testCommand } = brief;
  return [
    `**Goal.** ${inertSentence(brief.goal, 2_000)}`,
    ...bulletList('Definition of done', brief.definitionOfDone),
    ...bulletList('Plan', brief.plan),
    ...bulletList('Assumptions', brief.assumptions),
    ...bulletList('Replies from maintainers', dialogue?.inquiries.flatMap(maintainerReplies) ?? []),
    ...bulletList('Open questions', brief.questions.map(questionText)),
    ...bulletList('Acceptance tests from critics of the brief', brief.acceptance ?? []),
    ...(brief.files.length === 0
      ? []
      : [`\n**Files likely to change**\n`, ...brief.files.map((path) => `- ${code(path, 300)}`)]),
    ...bullets('Open pull requests that change the same files', overlapLines(brief.overlaps)),
    ...[overlapGap(brief.overlaps)].flatMap((text) => (text === '' ? [] : [`\n${text}`])),
    ...(brief.risk ? [`\n**Risk:** ${brief.risk.level}. ${inertSentence(brief.risk.because, 400)}`] : []),
    ...(brief.changedTests?.length
      ? [`\n**Tests that must change**\n`, ...brief.changedTests.map((path) => `- ${code(path, 300)}`)]
      : []),
    ...(testCommand && checks?.test && testCommand !== checks.test
      ? [
          `\nThe planner expected the test command ${code(testCommand, 200)}; Runoff runs ${code(checks.test, 200)}.`,
        ]
      : []),
    ...bulletList("Omitted from the planner's answer", brief.notes ?? []),
  ];
}

function maintainerReplies(inquiry: Inquiry): readonly string[] {
  const { settled } = inquiry;
  if (settled?.kind === 'answered' && inquiry.kind === 'answer') {
    return [`${inquiry.question.text} ${settled.text}`];
  }
  return settled?.kind === 'revised' ? [settled.text] : [];
}

/** An agreed brief has no open questions: unanswered ones are listed as assumptions. */
const questionText = ({ text, assume }: Question): string => `${text} Proposed: ${assume}`;

const bulletList = (title: string, items: readonly string[]): readonly string[] =>
  bullets(
    title,
    items.map((item) => inertSentence(item, 500)),
  );

/** `items`: Markdown. */
const bullets = (title: string, items: readonly string[]): readonly string[] =>
  items.length === 0 ? [] : [`\n**${title}**\n`, ...items.map((item) => `- ${item}`)];

/** The debate in one line; empty if there was none. */
export function debateLine({ debate }: Pick<RunView, 'debate'>): string {
  return debate ? `**Debate of the brief:** ${debateSummary(debate, (critic) => code(critic, 41))}` : '';
}

/** How it ended, and its rounds, participants, issues and cost. */
export function debateSummary(debate: Debate, named: (critic: string) => string): string {
  const { rounds, end, cost } = debate;
  const critics = [...new Set(rounds.flatMap(({ critiques }) => critiques.map(({ critic }) => critic)))];
  const how = end ? DEBATE_STOP_LABELS[end.stop] : 'in progress';
  return `${how} after ${counted(rounds.length, 'round')} of ${critics.map(named).join(', ')}; ${issueCounts(debate)}; ${money(cost.usd)}.`;
}

function issueCounts({ ledger }: Debate): string {
  const kinds = (['accepted', 'rejected', 'asked', 'open'] as const)
    .map((kind) => [ledger.filter(({ status }) => status.kind === kind).length, kind] as const)
    .filter(([count]) => count > 0);
  const [total, [first]] = [counted(ledger.length, 'issue'), kinds];
  if (!first) return 'no issue';
  if (kinds.length === 1) return `${total}, ${ledger.length > 1 ? 'all ' : ''}${first[1]}`;
  return `${total} (${kinds.map(([count, kind]) => `${count} ${kind}`).join(', ')})`;
}

/** Rounds, results of all issues, and changes by the debate, folded. Every line is escaped, because models wrote it. */
export function debateSection({ debate }: Pick<RunView, 'debate'>, maxLength: number): string {
  if (!debate) return '';
  const summary = 'The debate and its changes to the brief';
  const frame = details(summary, '').length;
  const rounds = table(['round', 'critics', 'changed', 'cost'], 'llrr', debate.rounds.map(roundRow));
  const left = maxLength - frame - rounds.length - 20;
  if (left < 0) return '';
  const why = debate.end ? [inertSentence(debate.end.because, 400)] : [];
  const text = [...why, ...debate.ledger.map(entryLine)];
  const issues = fill(text, Math.floor(left / 2), {
    separator: '\n',
    more: (more) => `\n(${counted(more, 'more issue')}, omitted for length)`,
  });
  const diff = specDiff(debate.original, debate.spec).text;
  const shown = diff === '' ? null : fencedDiff(diff, left - issues.length - 60);
  const cut = shown && !shown.whole ? `\n\n(${shown.shownLines} of ${shown.totalLines} lines)` : '';
  const body = [rounds, issues, shown ? `${shown.block}${cut}` : ''].filter((part) => part !== '');
  return details(summary, body.join('\n\n'));
}

const roundRow = ({ roundNumber, critiques, changed, cost }: DebateRound): readonly string[] => [
  String(roundNumber + 1),
  critiques.map(critiqueText).join('; '),
  `${Math.round(changed * 100)}%`,
  money(cost.usd),
];

function critiqueText(turn: CriticTurn): string {
  const who = code(turn.critic, 41);
  if (turn.kind === 'failed') return `${who} failed: ${inertSentence(turn.why, 120)}`;
  if (turn.kind === 'stands') return `${who} approved before`;
  const raised = turn.raised.length + turn.upheldIssues.length;
  if (turn.approved) return `${who} approves${raised > 0 ? `, ${counted(raised, 'minor issue')}` : ''}`;
  return `${who} raises ${counted(raised, 'issue')}`;
}

function entryLine({ id, severity, title, scenario, status, loweredBecause }: LedgerEntry): string {
  const because = status.kind === 'open' ? '' : `: ${inertSentence(status.because, 200)}`;
  const case_ = scenario.trim() === '' ? '' : ` (${inertSentence(scenario, 200)})`;
  const low = loweredBecause ? ` ${inertSentence(loweredBecause, 120)}` : '';
  return `- **${id}** ${severity}, ${status.kind}: ${inertSentence(title, 120)}${case_}${because}${low}`;
}

/** The result of executing an objection, in the fewest words. */
export const OBJECTION_RESULT_LABELS = {
  confirmed: 'confirmed by a test',
  doubt: 'not confirmed by a test',
  refuted: 'refuted by its own test',
} as const satisfies Record<Objection['outcome'], string>;

/** The place of a reviewed candidate after the new decision, as plain text; empty before it. */
export function reviewOutcome({ alias, after }: WinnerReview, all: readonly WinnerReview[]): string {
  if (!after) return '';
  if (after.alias === alias) return 'It stays first.';
  if (after.alias === null)
    return `It is no longer the winner, and no candidate replaces it. ${after.because}`;
  const next = all.some((one) => one.alias === after.alias) ? '' : ` ${after.alias} was not reviewed.`;
  return `${after.alias} replaces it as the winner. ${after.because}${next}`;
}

/** One critic in a few words: plain text, partly written by a model. */
export function criticText(report: CriticReport): string {
  switch (report.kind) {
    case 'passed':
      return `raises no objection: ${report.because}`;
    case 'objects':
      return `objects: ${report.because}`;
    case 'failed':
      return `failed to review: ${report.why}`;
  }
}

/** Maximum UTF-16 units of each objection. */
const MAX_OBJECTION_CHARACTERS = 200;

/** Critics' reviews of the first candidate, the results of executing them, and the candidate that is first since. */
export function reviewSection(view: RunView, maxLength: number): string {
  const title = '#### Review of the winner';
  const body = reviewBody(view, maxLength - title.length - 2);
  return body === '' ? '' : `${title}\n\n${body}`;
}

/** The same, folded. */
export function reviewFold(view: RunView, maxLength: number): string {
  const summary = 'Review of the winner by critics';
  const body = reviewBody(view, maxLength - details(summary, '').length);
  return body === '' ? '' : details(summary, body);
}

function reviewBody({ review = [] }: RunView, maxLength: number): string {
  const blocks = review.flatMap((one) => [
    reviewIntro(one, review),
    ...one.critics.flatMap((report) => [
      `- ${code(report.critic, 60)}${modelOf(report)} ${inertSentence(criticText(report), 300)}`,
      ...('objections' in report ? report.objections.map(objectionLine) : []),
    ]),
  ]);
  return fill(blocks, maxLength, {
    separator: '\n',
    more: (left) => `- (${counted(left, 'more line')}, omitted for length)`,
  });
}

const reviewIntro = (one: WinnerReview, all: readonly WinnerReview[]): string => {
  const place = reviewOutcome(one, all);
  const text = `**${one.alias}** was reviewed by ${counted(one.critics.length, 'critic')}, who saw neither its author nor other reviews.${place && ` ${inertSentence(place, 600)}`}`;
  // A paragraph between two lists, so that it belongs to neither.
  return one === all[0] ? `${text}\n` : `\n${text}\n`;
};

const modelOf = (report: CriticReport): string =>
  report.kind === 'failed' ? '' : ` (${code(report.model, 80)})`;

function objectionLine({ file, line, input, expected, got, outcome, because }: Objection): string {
  const what = `input ${prose(input, MAX_OBJECTION_CHARACTERS)}: expected ${prose(expected, MAX_OBJECTION_CHARACTERS)}, got ${prose(got, MAX_OBJECTION_CHARACTERS)}`;
  const why = outcome === 'refuted' ? '' : ` (${prose(because, MAX_OBJECTION_CHARACTERS)})`;
  return `  - **${OBJECTION_RESULT_LABELS[outcome]}**${why}: ${code(`${file}:${line}`, 160)}, ${what}`;
}

/** One line for the pull request of a reviewed candidate; empty if it was not reviewed. */
export function reviewLine({ review = [] }: RunView, alias: string): string {
  const own = review.find((one) => one.alias === alias);
  if (!own) return '';
  const objections = own.critics.flatMap((one) => ('objections' in one ? one.objections : []));
  const failed = own.critics.filter(({ kind }) => kind === 'failed').length;
  const counts = (['confirmed', 'doubt', 'refuted'] as const).flatMap((outcome) => {
    const count = objections.filter((one) => one.outcome === outcome).length;
    return count === 0 ? [] : [`${count} ${OBJECTION_RESULT_LABELS[outcome]}`];
  });
  const summary = counts.length === 0 ? 'no objection' : `objections: ${counts.join(', ')}`;
  return `- Review by ${counted(own.critics.length, 'critic')}: ${summary}${failed === 0 ? '' : `; ${failed} failed`}`;
}

/** Maximum code points of a judge's text on one pair, of a note, and of a place in a patch. */
const MAX_JUDGE_CHARACTERS = 240;
const MAX_JUDGE_NOTE_CHARACTERS = 200;
const MAX_LOCATION_CHARACTERS = 160;

/**
 * The verdict of the blind judges, separate from execution results: an opinion, with the judges asked and those
 * discarded.
 */
export function judgesSection({ judgement }: RunView, maxLength: number): string {
  if (!judgement) return '';
  const { judges, quorum, because, notes, injections, spent } = judgement;
  const title = 'Model opinions: what blind judges said';
  const head = `Blind judges compared the undecided candidates without knowing who wrote them. These are opinions, not executed evidence; they never make a candidate win that failed a gate.`;
  const lines = [
    `- ${inertSentence(because, MAX_JUDGE_CHARACTERS)} ${quorum.answered} of ${counted(quorum.asked, 'judge')} answered, for ${money(spent.usd)}.`,
    ...judges.map(judgeLine),
    ...notes.map((note) => `- ${inertSentence(note, MAX_JUDGE_NOTE_CHARACTERS)}`),
    ...injections.map(
      ({ alias, file, line, what }) =>
        `- **Review ${alias} closely:** ${code(`${file}:${line}`, MAX_LOCATION_CHARACTERS)} ${inertSentence(what, MAX_JUDGE_NOTE_CHARACTERS)} The judges were not shown it.`,
    ),
  ];
  const list = fill(lines, Math.floor(maxLength / 2) - head.length - details(title, '').length, {
    separator: '\n',
    more: (left) => `- (${counted(left, 'more line')}, omitted for length)`,
  });
  const words = pairLines(judgement);
  const summary = 'Verdicts on each pair';
  const frame = details(summary, '').length;
  const folded = fill(words, maxLength - head.length - list.length - frame - details(title, '').length - 4, {
    separator: '\n',
    more: (left) => `- (${counted(left, 'more line')}, omitted for length)`,
  });
  const blocks = [head, list, folded === '' ? '' : details(summary, folded)];
  return details(title, blocks.filter((block) => block !== '').join('\n\n'));
}

function judgeLine({ judge, model, asked, answered, discarded, ownFamily }: JudgeRecord): string {
  const own = ownFamily ? '; a candidate comes from its own model family' : '';
  const why = discarded ? `. Discarded: ${inertSentence(discarded, MAX_JUDGE_NOTE_CHARACTERS)}` : '';
  return `- ${code(judge, 40)} (${code(model, 80)}): ${answered} of ${counted(asked, 'answer')} usable${own}${why}`;
}

const pairLines = ({ pairs }: Judgement): readonly string[] => pairs.flatMap((pair) => pairText(pair));

/** Judges' texts on the pairs with a candidate, one line each. Escaped, because a model wrote them. */
export function judgesOn({ judgement }: RunView, alias: Alias): readonly string[] {
  return (judgement?.pairs ?? []).filter(({ a, b }) => a === alias || b === alias).flatMap(pairText);
}

function pairText({ a, b, byJudge, alike }: JudgedPair): readonly string[] {
  if (alike) return [`- **${a}** and **${b}** have the same changes, so no judge was asked`];
  const won = { a: `prefers **${a}**`, b: `prefers **${b}**`, tie: 'sees no difference' } as const;
  return byJudge.map(({ judge, outcome, consistent, because }) => {
    const order = consistent ? '' : ' (its answer changed with the order, so it counts as a tie)';
    return `- **${a}** and **${b}**: ${code(judge, 40)} ${won[outcome]}${order}. Reason: ${prose(because, MAX_JUDGE_CHARACTERS)}`;
  });
}
