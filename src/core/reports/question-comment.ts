import { type Inquiry, openInquiry, type Settlement } from '../brief/index.ts';
import { COMMANDS, type UnrecognizedCommand } from '../commands/index.ts';
import { isOver } from '../model/index.ts';
import { elapsed, personFirst as named } from './format.ts';
import { report } from './layout.ts';
import { code, inertSentence } from './safe.ts';
import type { Report, RunView } from './view.ts';

/** What happens to a question that nobody answers: the setting `answer.otherwise`. */
export type UnansweredPolicy = 'stop' | 'assume';

/**
 * What a run asks, as a comment of its own: an edit of the status comment would notify nobody. The same inquiry in the
 * same state is always the same text, so that a tick can be told from any other edit. `unrecognizedCommand`: the last command that
 * did not fit, while it is open.
 */
export function questionComment(
  view: RunView,
  inquiry: Inquiry,
  otherwise: UnansweredPolicy,
  unrecognizedCommand: UnrecognizedCommand | null = null,
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
            .map((box) => `- [ ] ${box}`)
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
    return `The plan is in the status comment. Tick the box, or comment \`/auto-dev approve\`. To ask for a different plan, comment \`/auto-dev revise TEXT\`. ${who}`;
  }
  return inquiry.question.options.length > 0
    ? `Tick one box, or comment \`/auto-dev answer 1\` or \`/auto-dev answer TEXT\`. ${who}`
    : `Comment \`/auto-dev answer TEXT\`. ${who}`;
}

/** One line, so that it is one to compare. */
function unrecognizedText({ said, why, meant }: UnrecognizedCommand): string {
  const { example, does } = COMMANDS[meant];
  return `Not accepted: ${code(said, 80)}. ${inertSentence(why, 400)} Try \`${example}\`, which ${does}.`;
}

function settledText(settled: Settlement): string {
  switch (settled.kind) {
    case 'answered':
      return `${named(settled.by)} answered: ${inertSentence(settled.text, 4_000)}`;
    case 'approved':
      return `${named(settled.by)} approved the plan.`;
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
  /** Nothing differs: a tick was taken back, or the edit is our own. */
  | { readonly kind: 'untouched' }
  /** From 1. */
  | { readonly kind: 'ticked'; readonly box: number }
  | { readonly kind: 'other' };

const BOX = /^- \[ \] /;

/** What somebody did to a comment of ours: one box ticked and nothing else changed, or anything else. */
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

/** GitHub's editor changes ends of lines and drops the last one. */
const splitCommentLines = (body: string): readonly string[] =>
  body
    .replaceAll('\r\n', '\n')
    .trimEnd()
    .split('\n')
    .map((line) => line.trimEnd());

/** What the run waits for and how to say it, for the status comment; empty where it waits for nobody. */
export function waitingText(view: RunView): string {
  const open = view.dialogue && !isOver(view.state) ? openInquiry(view.dialogue) : null;
  if (!open) return '';
  const left = `${elapsed(open.until - view.now)} left`;
  if (open.kind === 'approval') {
    return `**Waiting for plan approval** (${left}): comment \`/auto-dev approve\` or \`/auto-dev revise TEXT\`.`;
  }
  const ways =
    open.question.options.length > 0
      ? 'Tick a box in the comment with the question, or comment `/auto-dev answer 1`.'
      : 'Comment `/auto-dev answer TEXT`.';
  return `**Waiting for an answer** (${left}): ${inertSentence(open.question.text, 400)} ${ways}`;
}
