import { COMMANDS, type Misheard } from '../commands/index.ts';
import { type Inquiry, openInquiry, type Settled } from '../dialogue/index.ts';
import { isOver } from '../lifecycle/index.ts';
import { elapsed } from './format.ts';
import { report } from './marker.ts';
import { personFirst as named } from './people.ts';
import { code, sentence } from './safe.ts';
import type { Report, RunView } from './view.ts';

/** What happens to a question that nobody answers: the setting `answer.otherwise`. */
export type Otherwise = 'stop' | 'assume';

/**
 * What a run asks, as a comment of its own: an edit of the status comment would notify nobody. The same inquiry in the
 * same state is always the same text, so that a tick can be told from any other edit. `misheard`: the last command that
 * did not fit, while it is open.
 */
export function questionComment(
  view: RunView,
  inquiry: Inquiry,
  otherwise: Otherwise,
  misheard: Misheard | null = null,
): Report {
  const ended = inquiry.settled
    ? settledWords(inquiry.settled)
    : isOver(view.state)
      ? 'The run ended before.'
      : null;
  const blocks =
    ended === null
      ? [
          asking(inquiry),
          boxes(inquiry)
            .map((box) => `- [ ] ${box}`)
            .join('\n'),
          byDefault(inquiry, otherwise),
          how(inquiry),
          ...(misheard ? [notTaken(misheard)] : []),
        ]
      : [asking(inquiry), ended];
  return report('question', view.id, blocks, inquiry.number);
}

function asking(inquiry: Inquiry): string {
  return inquiry.kind === 'answer'
    ? `**${sentence(inquiry.question.text, 400)}**`
    : '**Shall the coders start on the plan of this run?**';
}

const boxes = (inquiry: Inquiry): readonly string[] =>
  inquiry.kind === 'answer'
    ? inquiry.question.options.map((option, at) => `${at + 1}. ${sentence(option, 200)}`)
    : ['Approve the plan'];

function byDefault(inquiry: Inquiry, otherwise: Otherwise): string {
  const until = utc(inquiry.until);
  if (inquiry.kind === 'approval') return `Without an approval until ${until} the run stops.`;
  return otherwise === 'stop'
    ? `Without an answer until ${until} the run stops.`
    : `Without an answer until ${until} the run goes on with this assumption: ${sentence(inquiry.question.assume, 400)}`;
}

function how(inquiry: Inquiry): string {
  const who = 'Only people with write permission are heard.';
  if (inquiry.kind === 'approval') {
    return `The plan stands in the status comment. Tick the box, or comment \`/auto-dev approve\`. For another plan, comment \`/auto-dev revise TEXT\`. ${who}`;
  }
  return inquiry.question.options.length > 0
    ? `Tick one box, or comment \`/auto-dev answer 1\` or \`/auto-dev answer TEXT\`. ${who}`
    : `Comment \`/auto-dev answer TEXT\`. ${who}`;
}

/** One line, so that it is one to compare. */
function notTaken({ said, why, meant }: Misheard): string {
  const { example, does } = COMMANDS[meant];
  return `Not taken: ${code(said, 80)}. ${sentence(why, 400)} Write \`${example}\`, which ${does}.`;
}

function settledWords(settled: Settled): string {
  switch (settled.kind) {
    case 'answered':
      return `${named(settled.by)} answered: ${sentence(settled.text, 4_000)}`;
    case 'approved':
      return `${named(settled.by)} approved it.`;
    case 'revised':
      return `${named(settled.by)} asked for another plan: ${sentence(settled.text, 4_000)}`;
    case 'assumed':
      return `Nobody answered in time. Assumed: ${sentence(settled.text, 400)}`;
    case 'expired':
      return 'Nobody answered in time, and the run stopped.';
  }
}

/** `2026-11-22 08:00 UTC` */
const utc = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

export type Tick =
  /** Nothing differs: a tick was taken back, or the edit is our own. */
  | { readonly kind: 'untouched' }
  /** From 1. */
  | { readonly kind: 'ticked'; readonly box: number }
  | { readonly kind: 'other' };

const BOX = /^- \[ \] /;

/** What somebody did to a comment of ours: one box ticked and nothing else changed, or anything else. */
export function tickIn(ours: string, edited: string): Tick {
  const before = linesOf(ours);
  const after = linesOf(edited);
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
const linesOf = (body: string): readonly string[] =>
  body
    .replaceAll('\r\n', '\n')
    .trimEnd()
    .split('\n')
    .map((line) => line.trimEnd());

/** What the run waits for and how to say it, for the status comment; empty where it waits for nobody. */
export function waitingLine(view: RunView): string {
  const open = view.dialogue && !isOver(view.state) ? openInquiry(view.dialogue) : null;
  if (!open) return '';
  const left = `${elapsed(open.until - view.now)} left`;
  if (open.kind === 'approval') {
    return `**Waits for an approval of its plan** (${left}): comment \`/auto-dev approve\` or \`/auto-dev revise TEXT\`.`;
  }
  const ways =
    open.question.options.length > 0
      ? 'Tick a box in the comment that asks, or comment `/auto-dev answer 1`.'
      : 'Comment `/auto-dev answer TEXT`.';
  return `**Waits for an answer** (${left}): ${sentence(open.question.text, 400)} ${ways}`;
}
