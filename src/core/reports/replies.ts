import { type Inquiry, openInquiry, type Settlement } from '../brief/index.ts';
import {
  COMMAND_NAMES,
  COMMANDS,
  type Command,
  type CommandRow,
  type UnrecognizedCommand,
} from '../commands/index.ts';
import { type CandidateState, isOver, type RunState, SETTINGS_FILE } from '../model/index.ts';
import { pickable } from '../ranking/index.ts';
import { activityLabel } from './activity.ts';
import { pageLine } from './decision-sections.ts';
import { counted, elapsed, queueText, spentSentence, stageNumber, stageOf } from './format.ts';
import { code, inertSentence, link, replyScope, report, table } from './markdown.ts';
import { MARKDOWN, type Markup, personFirst as named } from './markup.ts';
import { fatalTrouble, type Report, type RunView } from './view.ts';

/** Maximum characters of a sentence that answers a command. */
const MAX_REPLY_CHARACTERS = 1_500;

/** A reply to the comment with this id, made of formatted blocks. */
const reply = (comment: number, blocks: readonly string[]): Report =>
  report('reply', replyScope(comment), blocks);

const WHERE_LABELS = {
  issue: 'issue',
  pull: 'pull request',
  both: 'issue or pull request',
} as const satisfies Record<CommandRow['where'], string>;

/** A list of all commands, in reply to the comment with this id. */
export function helpReply(comment: number): Report {
  const rows = COMMAND_NAMES.map((name) => {
    const { usage, does, where } = COMMANDS[name];
    return [usage.map((form) => code(form, 200)).join('<br>'), inertSentence(does, 300), WHERE_LABELS[where]];
  });
  return reply(comment, [
    'To give a command, post a comment that starts with it. Only people with write access can use commands. `X` stands for the letter of a candidate.',
    table(['command', 'what it does', 'on'], 'lll', rows),
  ]);
}

/**
 * One sentence with code in backticks; untrusted text in it is escaped. It never begins a line, because some bots
 * have plain words as commands.
 */
export const noteReply = (comment: number, text: string): Report =>
  reply(comment, [`**Runoff:** ${inertSentence(text, MAX_REPLY_CHARACTERS)}`]);

/** Where the draft pull request with the settings of a run is. */
export const settingsReply = (comment: number, pull: number): Report =>
  reply(comment, [
    `**Runoff:** The draft pull request #${pull} keeps the commands of this run in ${code(SETTINGS_FILE)}.`,
  ]);

/** Why a command was not understood, and the most likely intention. */
export function unknownReply(
  comment: number,
  { word, meant, why }: Pick<Extract<Command, { readonly name: 'unknown' }>, 'word' | 'meant' | 'why'>,
): Report {
  const what = `**Not understood:** ${code(`/auto-dev ${word}`.trim(), 80)}. ${inertSentence(why, 600)}`;
  // If the command is known, the sentence shows its syntax.
  const guess =
    meant !== null && meant !== word.toLowerCase().split(' ')[0]
      ? `Did you mean ${code(COMMANDS[meant].example, 200)}, which ${inertSentence(COMMANDS[meant].does, 300)}?`
      : '';
  return reply(comment, [
    [what, guess, 'For all commands, comment `/auto-dev help`.'].filter((part) => part !== '').join(' '),
  ]);
}

/** Describes a run whose work is finished or has not begun. */
const STATE_LABELS = {
  refused: 'not started',
  awaiting_pick: 'waiting for you to choose a candidate',
  merged: 'done, pull request merged',
  failed: 'failed',
  cancelled: 'cancelled',
} as const satisfies Partial<Record<RunState, string>>;

/**
 * The progress of a run in short. `view` null: no run is known here; `statusUrl` null: its status comment was not
 * written.
 */
export function statusReply(comment: number, view: RunView | null, statusUrl: string | null): Report {
  if (view === null) {
    return reply(comment, [
      'There is no run here. To start one, comment `/auto-dev run` on an issue or add the label `auto-dev` to it.',
    ]);
  }
  const fatal = fatalTrouble(view);
  const facts = [
    `**Run ${code(view.id)}: ${stateText(view)}**, ${elapsed(view.now - view.startedAt)}.`,
    coderProgress(view),
    spentSentence(view),
    statusUrl === null ? '' : `See ${link('the status comment', statusUrl)} for details.`,
    pageLine(view),
  ];
  return reply(comment, [
    facts.filter((fact) => fact !== '').join(' '),
    queueText(view, MARKDOWN),
    waitingText(view),
    view.state === 'awaiting_pick' ? pickText(view) : '',
    view.state === 'cancelled' && view.endedBecause !== undefined
      ? `It stopped because ${inertSentence(view.endedBecause, 300)}.`
      : '',
    fatal
      ? `**Why:** ${inertSentence(fatal.message, MAX_REPLY_CHARACTERS)} **Next:** ${inertSentence(fatal.advice, 600)}`
      : '',
  ]);
}

/** Names a candidate that can be picked, as the comparison does. */
function pickText(view: RunView): string {
  const picks = [...pickable(view).slice(0, 1), 'none'].map((pick) => `\`/auto-dev pick ${pick}\``);
  return `To choose, comment ${picks.join(' or ')}.`;
}

/** What came of a run that is over: a pull request, or why there is none. */
function endText({ state, outcome, decision }: RunView): string | null {
  const isOpened = outcome?.kind === 'pull';
  if (state === 'closed')
    return isOpened ? 'pull request closed without merging' : 'ended without a pull request';
  if (state !== 'published') return null;
  if (isOpened) return 'done, result published';
  if (outcome?.kind === 'table' && outcome.refusedBecause !== undefined)
    return outcome.isDamaged
      ? "done, but without a pull request, because the winner's stored changes are damaged"
      : 'done, but GitHub refused its pull request';
  return decision?.kind === 'none' ? 'done, no candidate passed' : 'done, no pull request opened';
}

function stateText(view: RunView): string {
  const ended = endText(view);
  if (ended !== null) return ended;
  const other = STATE_LABELS[view.state as keyof typeof STATE_LABELS];
  if (other !== undefined) return other;
  const stage = stageOf(view);
  return stage === null ? view.state : `${stageNumber(stage)}, ${activityLabel(view, stage)}`;
}

const ACTIVE: ReadonlySet<CandidateState> = new Set(['queued', 'coding']);

/** Finished coders of the total; empty before the first. */
function coderProgress({ candidates }: RunView): string {
  if (candidates.length === 0) return '';
  const ended = candidates.filter(({ state }) => !ACTIVE.has(state)).length;
  return `${ended} of ${counted(candidates.length, 'coder')} finished.`;
}

/** What happens to an unanswered question: the setting `answer.otherwise`. */
export type UnansweredPolicy = 'stop' | 'assume';

/**
 * A run's questions as a separate comment, because editing the status comment would notify no one. Deterministic for
 * an inquiry and its state, so that a tick can be distinguished from any other edit. `unrecognizedCommand`: the last
 * invalid answer while the inquiry is open. `ticked`: the box, 1-based, of an accepted reply that the run has not read
 * yet.
 */
export function questionComment(
  view: RunView,
  inquiry: Inquiry,
  otherwise: UnansweredPolicy,
  unrecognizedCommand: UnrecognizedCommand | null = null,
  ticked: number | null = null,
): Report {
  const ended = inquiry.settled
    ? settledText(inquiry.settled)
    : isOver(view.state)
      ? 'The run ended before anyone answered.'
      : null;
  const blocks =
    ended === null
      ? [
          questionTitle(inquiry),
          checkboxLabels(inquiry)
            .map((box, at) => `- [${at + 1 === ticked ? 'x' : ' '}] ${box}`)
            .join('\n'),
          defaultText(inquiry, otherwise),
          replyInstructions(inquiry),
          ...(unrecognizedCommand ? [unrecognizedText(unrecognizedCommand)] : []),
        ]
      : [questionTitle(inquiry), ended];
  return report('question', view.id, blocks, inquiry.number);
}

function questionTitle(inquiry: Inquiry): string {
  return inquiry.kind === 'answer'
    ? `**${inertSentence(inquiry.question.text, 400)}**`
    : '**Approve this plan so that the coders can start?**';
}

const checkboxLabels = (inquiry: Inquiry): readonly string[] =>
  inquiry.kind === 'answer'
    ? inquiry.question.options.map((option, at) => `${at + 1}. ${inertSentence(option, 200)}`)
    : ['Approve the plan'];

function defaultText(inquiry: Inquiry, otherwise: UnansweredPolicy): string {
  const until = utc(inquiry.until);
  if (inquiry.kind === 'approval') return `If nobody approves the plan by ${until}, the run stops.`;
  return otherwise === 'stop'
    ? `If nobody answers by ${until}, the run stops.`
    : `If nobody answers by ${until}, the run continues with this assumption: ${inertSentence(inquiry.question.assume, 400)}`;
}

function replyInstructions(inquiry: Inquiry): string {
  const who = 'Only people with write access can reply.';
  if (inquiry.kind === 'approval') {
    return `The plan is in the status comment. Tick the box, or comment \`/auto-dev approve\`. To ask for a different plan, comment \`/auto-dev revise TEXT\`; to let critics debate it first, \`/auto-dev debate\`. ${who}`;
  }
  return inquiry.question.options.length > 0
    ? `Tick one box, or comment \`/auto-dev answer 1\` or \`/auto-dev answer TEXT\`. ${who}`
    : `Comment \`/auto-dev answer TEXT\`. ${who}`;
}

/** Kept on one line, so that edits can be compared by line. */
function unrecognizedText({ text, why, meant }: UnrecognizedCommand): string {
  const { example, does } = COMMANDS[meant];
  return `Not accepted: ${code(text, 80)}. ${inertSentence(why, 400)} Try \`${example}\`, which ${does}.`;
}

function settledText(settled: Settlement): string {
  switch (settled.kind) {
    case 'answered':
      return `${named(settled.by)} answered: ${inertSentence(settled.text, 4_000)}`;
    case 'approved':
      return `${named(settled.by)} approved the plan.`;
    case 'debated':
      return `${named(settled.by)} asked for a debate of the plan.`;
    case 'revised':
      return `${named(settled.by)} asked for a different plan: ${inertSentence(settled.text, 4_000)}`;
    case 'assumed':
      return `Nobody answered in time. The run continued with this assumption: ${inertSentence(settled.text, 400)}`;
    case 'expired':
      return 'Nobody answered in time, so the run stopped.';
  }
}

/** `2026-11-22 08:00 UTC` */
const utc = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

export type CheckboxEdit =
  /** No difference: a tick was undone, or the edit was Runoff's own. */
  | { readonly kind: 'untouched' }
  /** 1-based. */
  | { readonly kind: 'ticked'; readonly box: number }
  | { readonly kind: 'other' };

const BOX = /^- \[ \] /;

/** A person's edit of Runoff's comment: exactly one box ticked, or anything else. */
export function checkboxEdit(ours: string, edited: string): CheckboxEdit {
  const before = splitCommentLines(ours);
  const after = splitCommentLines(edited);
  if (before.length !== after.length) return { kind: 'other' };
  const ticked: number[] = [];
  let box = 0;
  for (const [at, line] of before.entries()) {
    const isBox = BOX.test(line);
    if (isBox) box += 1;
    if (after[at] === line) continue;
    if (!isBox || after[at]?.replace(/^- \[[xX]\] /, '- [ ] ') !== line) return { kind: 'other' };
    ticked.push(box);
  }
  const [one, ...more] = ticked;
  if (one === undefined) return { kind: 'untouched' };
  return more.length === 0 ? { kind: 'ticked', box: one } : { kind: 'other' };
}

/** GitHub's editor changes line endings and drops the last one. */
const splitCommentLines = (body: string): readonly string[] =>
  body
    .replaceAll('\r\n', '\n')
    .trimEnd()
    .split('\n')
    .map((line) => line.trimEnd());

/** What the run waits for and how to answer, for the status comment; empty if it waits for no one. */
export function waitingText(view: RunView, to: Markup = MARKDOWN): string {
  const open = view.dialogue && !isOver(view.state) ? openInquiry(view.dialogue) : null;
  if (!open) return '';
  const left = `${elapsed(open.until - view.now)} left`;
  if (open.kind === 'approval') {
    return to.own(
      view.origin.kind === 'github'
        ? `**Waiting for plan approval** (${left}): comment \`/auto-dev approve\`, \`/auto-dev debate\` or \`/auto-dev revise TEXT\`.`
        : `**Waiting for plan approval** (${left}): run \`runoff approve ${view.id}\` or \`runoff revise ${view.id} TEXT\`.`,
    );
  }
  const hasOptions = open.question.options.length > 0;
  const ways =
    view.origin.kind === 'local'
      ? `Run \`runoff answer ${view.id} ${hasOptions ? '1' : 'TEXT'}\`.`
      : hasOptions
        ? 'Tick a box in the comment with the question, or comment `/auto-dev answer 1`.'
        : 'Comment `/auto-dev answer TEXT`.';
  return `${to.own(`**Waiting for an answer** (${left}):`)} ${to.sentence(open.question.text, 400)} ${to.own(ways)}`;
}
