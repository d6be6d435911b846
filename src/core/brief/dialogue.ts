import { type Actor, type Brief, type Question, SEVERITIES } from '../model/index.ts';

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
  if (text.trim() === '') return unfit('Say what should be different.');
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

/** Questions that one run asks at most; what is left is assumed. Our default: a person's patience is short. */
export const MOST_QUESTIONS = 3;

export interface Wanted {
  /** Of the newest brief. */
  readonly questions: readonly Question[];
  readonly approval: 'never' | 'plan';
  /** False: there is nobody to be asked, and every question is assumed. */
  readonly mayAsk: boolean;
  /** Milliseconds since 1970 UTC. */
  readonly now: number;
  readonly withinMs: number;
}

/** The inquiry that waits for a reply; null where none does. */
export function openInquiry(dialogue: Dialogue): Inquiry | null {
  const last = dialogue.inquiries.at(-1);
  return last && !last.settled ? last : null;
}

/**
 * What to ask next: the first blocking question that was not asked yet, then whether the plan may be carried out. Null
 * where all is agreed, or something is open already. A question is told from another by its words.
 */
export function nextInquiry(dialogue: Dialogue, wanted: Wanted): Inquiry | null {
  if (openInquiry(dialogue)) return null;
  const { now, withinMs } = wanted;
  const base = { number: dialogue.inquiries.length + 1, askedAt: now, until: now + withinMs };
  const mayAsk = wanted.mayAsk && questionsAsked(dialogue) < MOST_QUESTIONS;
  const question = mayAsk && unasked(dialogue, wanted).find(({ severity }) => severity === 'blocking');
  if (question) return { ...base, kind: 'answer', question };
  return wanted.approval === 'plan' && !isApproved(dialogue) ? { ...base, kind: 'approval' } : null;
}

/** The dialogue with one more inquiry. What was said before it was asked is no reply to it. */
export function asked(dialogue: Dialogue, inquiry: Inquiry, said: readonly Reply[]): Dialogue {
  return {
    ...dialogue,
    inquiries: [...dialogue.inquiries, inquiry],
    taken: Math.max(dialogue.taken, ...said.map(({ number }) => number)),
  };
}

/**
 * The brief with what nobody said: of every question without an answer the assumption, since coders read no questions. To
 * be used when no question will be asked of this brief: none is open in it any more. Where there are more assumptions than
 * a brief may have, the planner's last ones give way. Twice gives the same as once.
 */
export function withAssumed<B extends Pick<Brief, 'assumptions' | 'questions'>>(
  brief: B,
  dialogue: Dialogue,
): B {
  const inVain = dialogue.inquiries.flatMap((inquiry) =>
    inquiry.kind === 'answer' && inquiry.settled?.kind === 'assumed' ? [inquiry.question] : [],
  );
  const assumed = new Set([...inVain, ...bySeverity(unasked(dialogue, brief))].map(assumption));
  const fresh = [...assumed].filter((text) => !brief.assumptions.includes(text)).slice(0, MOST_ASSUMPTIONS);
  if (fresh.length === 0 && brief.questions.length === 0) return brief;
  const kept = brief.assumptions.slice(0, MOST_ASSUMPTIONS - fresh.length);
  return { ...brief, assumptions: [...kept, ...fresh], questions: [] };
}

const bySeverity = (questions: readonly Question[]): readonly Question[] =>
  questions.toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));

/** As many as the planner may make. */
const MOST_ASSUMPTIONS = 20;
/** As long as an assumption of the planner may be. */
const MOST_TEXT = 500;

function assumption({ text, assume }: Question): string {
  const whole = `${text} Assumed: ${assume}`;
  return whole.length <= MOST_TEXT ? whole : `Assumed: ${assume}`;
}

const questionsAsked = (dialogue: Dialogue): number =>
  dialogue.inquiries.filter(({ kind }) => kind === 'answer').length;

function unasked(dialogue: Dialogue, { questions }: Pick<Wanted, 'questions'>): readonly Question[] {
  const known = new Set(
    dialogue.inquiries.flatMap((inquiry) =>
      inquiry.kind === 'answer' ? [sameWords(inquiry.question.text)] : [],
    ),
  );
  return questions.filter(({ text }) => !known.has(sameWords(text)));
}

const sameWords = (text: string): string => text.trim().replace(/\s+/g, ' ').toLowerCase();

/** Approved, and nothing since then led to another plan. */
function isApproved({ inquiries }: Dialogue): boolean {
  const kinds = inquiries.map(({ settled }) => settled?.kind);
  const newPlan = kinds.findLastIndex((kind) => kind === 'answered' || kind === 'revised');
  return kinds.lastIndexOf('approved') > newPlan;
}

/** What a person said to a run that waits. */
export interface Reply {
  /** From 1, in the order in which they came to this run. */
  readonly number: number;
  readonly kind: 'answer' | 'approve' | 'revise';
  /** 1-based option of an answer; absent: `text` is the answer. */
  readonly option?: number;
  /** Bounded free text; empty for an approval. */
  readonly text: string;
  /** Null: somebody at the command line of this machine. */
  readonly by: Actor | null;
  /** Milliseconds since 1970 UTC. */
  readonly at: number;
}

export type NewReply = Omit<Reply, 'number'>;

/** What a run asked, and what came of it. */
export type Inquiry = {
  /** From 1. */
  readonly number: number;
  /** Milliseconds since 1970 UTC. */
  readonly askedAt: number;
  readonly until: number;
  /** Absent while it is open. */
  readonly settled?: Settled;
} & ({ readonly kind: 'answer'; readonly question: Question } | { readonly kind: 'approval' });

export type Settled =
  | { readonly kind: 'answered'; readonly text: string; readonly by: Actor | null; readonly at: number }
  | { readonly kind: 'approved'; readonly by: Actor | null; readonly at: number }
  | { readonly kind: 'revised'; readonly text: string; readonly by: Actor | null; readonly at: number }
  /** Nobody spoke in time: what the question assumes is taken. */
  | { readonly kind: 'assumed'; readonly text: string; readonly at: number }
  /** Nobody spoke in time, and the run ended. */
  | { readonly kind: 'expired'; readonly at: number };

/** What a run and its maintainers said to each other about the brief. */
export interface Dialogue {
  readonly inquiries: readonly Inquiry[];
  /** Number of the last reply that was looked at. */
  readonly taken: number;
  /** How many answers and wishes the brief takes into account. */
  readonly heard: number;
}

export const NO_DIALOGUE: Dialogue = { inquiries: [], taken: 0, heard: 0 };
