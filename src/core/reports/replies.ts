import { COMMAND_NAMES, COMMANDS, type Command, type CommandRow } from '../commands/index.ts';
import type { CandidateState, RunState } from '../model/index.ts';
import { counted, elapsed, escapedMoney, money } from './format.ts';
import { activityLabel, queueText, stageNumber, stageOf } from './labels.ts';
import { replyScope, report, table } from './layout.ts';
import { waitingText } from './question-comment.ts';
import { code, inertSentence, link } from './safe.ts';
import type { Report, RunView } from './view.ts';

/** Characters of a sentence that answers a command. */
const MAX_NOTE_CHARACTERS = 1_500;

/** An answer to the comment with this number, from blocks that are ready. */
const reply = (comment: number, blocks: readonly string[]): Report =>
  report('reply', replyScope(comment), blocks);

const WHERE_LABELS = {
  issue: 'issue',
  pull: 'pull request',
  both: 'issue or pull request',
} as const satisfies Record<CommandRow['where'], string>;

/** All commands, to whoever asked by the comment with this number. */
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
 * One sentence of ours, with code in backticks; text of others in it is made inert. It never begins a line: there are bots
 * whose commands are plain words.
 */
export const noteReply = (comment: number, text: string): Report =>
  reply(comment, [`**Runoff:** ${inertSentence(text, MAX_NOTE_CHARACTERS)}`]);

/** Why a command was not understood, and what was probably meant. */
export function unknownReply(
  comment: number,
  { word, meant, why }: Pick<Extract<Command, { readonly name: 'unknown' }>, 'word' | 'meant' | 'why'>,
): Report {
  const what = `**Not understood:** ${code(`/auto-dev ${word}`.trim(), 80)}. ${inertSentence(why, 600)}`;
  // Where the command was the right one, the sentence says how it is written.
  const guess =
    meant !== null && meant !== word.toLowerCase()
      ? `Did you mean ${code(COMMANDS[meant].example, 200)}, which ${inertSentence(COMMANDS[meant].does, 300)}?`
      : '';
  return reply(comment, [
    [what, guess, 'For all commands, comment `/auto-dev help`.'].filter((part) => part !== '').join(' '),
  ]);
}

/** What is said of a run whose own work is over, or has not begun. */
const STATE_LABELS = {
  refused: 'not started',
  awaiting_pick: 'waiting for you to choose a candidate',
  published: 'done, result published',
  merged: 'done, pull request merged',
  closed: 'closed without merging',
  failed: 'failed',
  cancelled: 'cancelled',
} as const satisfies Partial<Record<RunState, string>>;

/**
 * Where a run stands, in short: `view` null where no run is known here, `statusUrl` null where its status comment was not
 * written.
 */
export function statusReply(comment: number, view: RunView | null, statusUrl: string | null): Report {
  if (view === null) {
    return reply(comment, [
      'There is no run here. To start one, comment `/auto-dev run` on an issue or add the label `auto-dev` to it.',
    ]);
  }
  const facts = [
    `**Run ${code(view.id)}: ${stateText(view)}**, ${elapsed(view.now - view.startedAt)}.`,
    coderProgress(view),
    view.budget.run > 0 ? `Spent ${money(view.budget.spent)} of ${escapedMoney(view.budget.run)}.` : '',
    statusUrl === null ? '' : `See ${link('the status comment', statusUrl)} for details.`,
  ];
  return reply(comment, [
    facts.filter((fact) => fact !== '').join(' '),
    queueText(view),
    waitingText(view),
    view.state === 'awaiting_pick' ? 'To choose, comment `/auto-dev pick B` or `/auto-dev pick none`.' : '',
    view.trouble
      ? `**Why:** ${inertSentence(view.trouble.message, MAX_NOTE_CHARACTERS)} **Next:** ${inertSentence(view.trouble.advice, 600)}`
      : '',
  ]);
}

function stateText(view: RunView): string {
  const other = STATE_LABELS[view.state as keyof typeof STATE_LABELS];
  if (other !== undefined) return other;
  const stage = stageOf(view);
  return stage === null ? view.state : `${stageNumber(stage)}, ${activityLabel(view, stage)}`;
}

const ACTIVE: ReadonlySet<CandidateState> = new Set(['queued', 'coding']);

/** Coders that have ended, of all; empty before there is one. */
function coderProgress({ candidates }: RunView): string {
  if (candidates.length === 0) return '';
  const ended = candidates.filter(({ state }) => !ACTIVE.has(state)).length;
  return `${ended} of ${counted(candidates.length, 'coder')} finished.`;
}
