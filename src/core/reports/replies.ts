import { COMMAND_NAMES, COMMANDS, type Command, type CommandRow } from '../commands/index.ts';
import type { CandidateState, RunState } from '../model/index.ts';
import { counted, dollars, elapsed, money } from './format.ts';
import { table } from './layout.ts';
import { replyScope, report } from './marker.ts';
import { waitingLine } from './question-comment.ts';
import { code, link, sentence } from './safe.ts';
import type { Report, RunView } from './view.ts';
import { doingWords, lineWords, stageNumber, stageOf } from './words.ts';

/** Characters of a sentence that answers a command. */
const MOST_NOTE = 1_500;

/** An answer to the comment with this number, from blocks that are ready. */
const reply = (comment: number, blocks: readonly string[]): Report =>
  report('reply', replyScope(comment), blocks);

const WHERE_WORDS = {
  issue: 'issue',
  pull: 'pull request',
  both: 'issue or pull request',
} as const satisfies Record<CommandRow['where'], string>;

/** All commands, to whoever asked by the comment with this number. */
export function helpReply(comment: number): Report {
  const rows = COMMAND_NAMES.map((name) => {
    const { usage, does, where } = COMMANDS[name];
    return [usage.map((form) => code(form, 200)).join('<br>'), sentence(does, 300), WHERE_WORDS[where]];
  });
  return reply(comment, [
    'A command is a comment of its own that begins with it. Only people with write permission are heard; `X` is the letter of a candidate.',
    table(['command', 'what it does', 'on'], 'lll', rows),
  ]);
}

/**
 * One sentence of ours, with code in backticks; text of others in it is made inert. It never begins a line: there are bots
 * whose commands are plain words.
 */
export const noteReply = (comment: number, text: string): Report =>
  reply(comment, [`**Runoff:** ${sentence(text, MOST_NOTE)}`]);

/** Why a command was not understood, and what was probably meant. */
export function unknownReply(
  comment: number,
  { word, meant, why }: Pick<Extract<Command, { readonly name: 'unknown' }>, 'word' | 'meant' | 'why'>,
): Report {
  const what = `**Nothing was done** for ${code(`/auto-dev ${word}`.trim(), 80)}. ${sentence(why, 600)}`;
  // Where the command was the right one, the sentence says how it is written.
  const guess =
    meant !== null && meant !== word.toLowerCase()
      ? `Did you mean ${code(COMMANDS[meant].example, 200)}, which ${sentence(COMMANDS[meant].does, 300)}?`
      : '';
  return reply(comment, [
    [what, guess, 'All commands: `/auto-dev help`.'].filter((part) => part !== '').join(' '),
  ]);
}

/** What is said of a run whose own work is over, or has not begun. */
const OTHER_STATES = {
  refused: 'not started',
  awaiting_pick: 'waiting for a person to pick a candidate',
  published: 'done, the result is published',
  merged: 'done, its pull request was merged',
  closed: 'closed without a merge',
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
      'No run is known here. To start one, comment `/auto-dev run` on an issue, or set the label `auto-dev` there.',
    ]);
  }
  const facts = [
    `**Run ${code(view.id)}: ${stateWords(view)}**, ${elapsed(view.now - view.startedAt)}.`,
    candidatesLine(view),
    view.budget.run > 0 ? `Spent ${money(view.budget.spent)} of ${dollars(view.budget.run)}.` : '',
    statusUrl === null ? '' : `${link('The status comment', statusUrl)} has the details.`,
  ];
  return reply(comment, [
    facts.filter((fact) => fact !== '').join(' '),
    lineWords(view),
    waitingLine(view),
    view.state === 'awaiting_pick' ? 'To pick, comment `/auto-dev pick B` or `/auto-dev pick none`.' : '',
    view.trouble
      ? `**Why:** ${sentence(view.trouble.message, MOST_NOTE)} **Next:** ${sentence(view.trouble.advice, 600)}`
      : '',
  ]);
}

function stateWords(view: RunView): string {
  const other = OTHER_STATES[view.state as keyof typeof OTHER_STATES];
  if (other !== undefined) return other;
  const stage = stageOf(view);
  return stage === null ? view.state : `${stageNumber(stage)}, ${doingWords(view, stage)}`;
}

const AT_WORK: ReadonlySet<CandidateState> = new Set(['queued', 'coding']);

/** Coders that have ended, of all; empty before there is one. */
function candidatesLine({ candidates }: RunView): string {
  if (candidates.length === 0) return '';
  const ended = candidates.filter(({ state }) => !AT_WORK.has(state)).length;
  return `${ended} of ${counted(candidates.length, 'coder')} ${ended === 1 ? 'has' : 'have'} ended.`;
}
