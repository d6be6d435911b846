import { openInquiry } from './inquire.ts';
import type { Dialogue, Inquiry, NewReply, Reply, Settled } from './types.ts';

/** What becomes of a run after somebody spoke, or nobody did. */
export type Next =
  /** Milliseconds that are left. */
  | { readonly kind: 'waits'; readonly ms: number }
  /** The planner takes the reply into account. */
  | { readonly kind: 'replan' }
  | { readonly kind: 'go' }
  /** One clause, for the run's record. */
  | { readonly kind: 'stop'; readonly because: string };

export type Fit =
  | { readonly kind: 'fits'; readonly settled: Settled }
  /** A sentence for whoever said it. */
  | { readonly kind: 'unfit'; readonly why: string };

/**
 * Looks at the replies that came since the last look, in order. The first that fits the open inquiry settles it, even
 * where the time is over by now; those behind it are left for nobody, since they answer a question that is answered.
 * With nothing open, says what the last inquiry led to: a step that is repeated after a crash decides the same again.
 */
export function settle(
  dialogue: Dialogue,
  replies: readonly Reply[],
  now: number,
  otherwise: 'stop' | 'assume',
): { readonly dialogue: Dialogue; readonly next: Next } {
  const open = openInquiry(dialogue);
  if (!open) return { dialogue, next: nextAfter(dialogue.inquiries.at(-1)) };
  let { taken } = dialogue;
  for (const reply of replies.filter(({ number }) => number > dialogue.taken)) {
    taken = reply.number;
    const fit = fits(open, reply);
    if (fit.kind === 'fits') return closed({ ...dialogue, taken }, open, fit.settled);
  }
  const heard = taken === dialogue.taken ? dialogue : { ...dialogue, taken };
  if (now < open.until) return { dialogue: heard, next: { kind: 'waits', ms: open.until - now } };
  return closed(heard, open, unanswered(open, now, otherwise));
}

/**
 * Whether a reply settles an inquiry, and how. A question takes an option by its number, and any text, also one that
 * was meant as a wish for another plan; without options a number is a text. A plan takes a yes, or what should be
 * different: an answer is neither, because it does not say whether it wants another plan.
 */
export function fits(inquiry: Inquiry, reply: NewReply): Fit {
  return inquiry.kind === 'approval' ? fitsPlan(reply) : fitsQuestion(inquiry.question.options, reply);
}

function fitsQuestion(options: readonly string[], reply: NewReply): Fit {
  const { kind, option, by, at } = reply;
  if (kind === 'approve') return unfit('It waits for an answer to a question, not for an approval.');
  const choice = option === undefined ? undefined : options[option - 1];
  if (option !== undefined && options.length > 0 && choice === undefined) {
    return unfit(`There is no option ${option}: the options are 1 to ${options.length}.`);
  }
  const text = choice ?? (option === undefined ? reply.text.trim() : String(option));
  if (text === '') return unfit('The answer has no text.');
  return { kind: 'fits', settled: { kind: 'answered', text, by, at } };
}

function fitsPlan({ kind, text, by, at }: NewReply): Fit {
  if (kind === 'approve') return { kind: 'fits', settled: { kind: 'approved', by, at } };
  if (kind === 'answer') return unfit('It waits for the approval of its plan, not for an answer.');
  if (text.trim() === '') return unfit('It is not said what should be different.');
  return { kind: 'fits', settled: { kind: 'revised', text: text.trim(), by, at } };
}

const unfit = (why: string): Fit => ({ kind: 'unfit', why });

function unanswered(inquiry: Inquiry, at: number, otherwise: 'stop' | 'assume'): Settled {
  return inquiry.kind === 'answer' && otherwise === 'assume'
    ? { kind: 'assumed', text: inquiry.question.assume, at }
    : { kind: 'expired', at };
}

function closed(dialogue: Dialogue, open: Inquiry, settled: Settled) {
  const last: Inquiry = { ...open, settled };
  const inquiries = [...dialogue.inquiries.slice(0, -1), last];
  return { dialogue: { ...dialogue, inquiries }, next: nextAfter(last) };
}

function nextAfter(inquiry: Inquiry | undefined): Next {
  switch (inquiry?.settled?.kind) {
    case 'answered':
    case 'revised':
      return { kind: 'replan' };
    case 'expired':
      return { kind: 'stop', because: whyStopped(inquiry) };
    default:
      return { kind: 'go' };
  }
}

/** `nobody answered within 72 h`. */
export function whyStopped({ kind, askedAt, until }: Inquiry): string {
  return `nobody ${kind === 'approval' ? 'approved the plan' : 'answered'} within ${span(until - askedAt)}`;
}

const UNITS = [
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const;

/** In the biggest unit that leaves no rest: `72 h`, `90 min`. */
export function span(ms: number): string {
  for (const [unit, name] of UNITS) if (ms >= unit && ms % unit === 0) return `${ms / unit} ${name}`;
  return `${Math.ceil(ms / 1_000)} s`;
}
