import { type Actor, type Brief, type Question, SEVERITIES } from '../model/index.ts';

/** What becomes of a run after somebody spoke, or nobody did. */
export type NextStep =
  /** Milliseconds that are left. */
  | { readonly kind: 'waits'; readonly ms: number }
  /** The planner takes the reply into account. */
  | { readonly kind: 'replan' }
  | { readonly kind: 'go' }
  /** One clause, for the run's record. */
  | { readonly kind: 'stop'; readonly because: string };

type ReplyMatch =
  | { readonly kind: 'fits'; readonly settled: Settlement }
  /** A sentence for whoever said it. */
  | { readonly kind: 'unfit'; readonly why: string };

/**
 * Looks at the replies that came since the last look, in order. The first that fits the open inquiry settles it, even
 * where the time is over by now; those behind it are left for nobody, since they answer a question that is answered.
 * With nothing open, says what the last inquiry led to: a step that is repeated after a crash decides the same again.
 */
export function settleInquiry(
  dialogue: Dialogue,
  replies: readonly Reply[],
  now: number,
  otherwise: 'stop' | 'assume',
): { readonly dialogue: Dialogue; readonly next: NextStep } {
  const open = openInquiry(dialogue);
  if (!open) return { dialogue, next: nextAfter(dialogue.inquiries.at(-1)) };
  let { lastReply } = dialogue;
  for (const reply of replies.filter(({ number }) => number > dialogue.lastReply)) {
    lastReply = reply.number;
    const fit = matchReply(open, reply);
    if (fit.kind === 'fits') return closeInquiry({ ...dialogue, lastReply }, open, fit.settled);
  }
  const updated = lastReply === dialogue.lastReply ? dialogue : { ...dialogue, lastReply };
  if (now < open.until) return { dialogue: updated, next: { kind: 'waits', ms: open.until - now } };
  return closeInquiry(updated, open, settlementWithoutReply(open, now, otherwise));
}

/**
 * Whether a reply settles an inquiry, and how. A question takes an option by its number, and any text, also one that
 * was meant as a wish for another plan; without options a number is a text. A plan takes a yes, or what should be
 * different: an answer is neither, because it does not say whether it wants another plan.
 */
export function matchReply(inquiry: Inquiry, reply: NewReply): ReplyMatch {
  return inquiry.kind === 'approval' ? matchApproval(reply) : matchAnswer(inquiry.question.options, reply);
}

function matchAnswer(options: readonly string[], reply: NewReply): ReplyMatch {
  const { kind, option, by, at } = reply;
  if (kind === 'approve')
    return mismatch('The run is waiting for an answer to a question, not for an approval.');
  const choice = option === undefined ? undefined : options[option - 1];
  if (option !== undefined && options.length > 0 && choice === undefined) {
    return mismatch(`There is no option ${option}: the options are 1 to ${options.length}.`);
  }
  const text = choice ?? (option === undefined ? reply.text.trim() : String(option));
  if (text === '') return mismatch('The answer is empty.');
  return { kind: 'fits', settled: { kind: 'answered', text, by, at } };
}

function matchApproval({ kind, text, by, at }: NewReply): ReplyMatch {
  if (kind === 'approve') return { kind: 'fits', settled: { kind: 'approved', by, at } };
  if (kind === 'answer') return mismatch('The run is waiting for approval of its plan, not for an answer.');
  if (text.trim() === '') return mismatch('Say what the new plan should change.');
  return { kind: 'fits', settled: { kind: 'revised', text: text.trim(), by, at } };
}

const mismatch = (why: string): ReplyMatch => ({ kind: 'unfit', why });

function settlementWithoutReply(inquiry: Inquiry, at: number, otherwise: 'stop' | 'assume'): Settlement {
  return inquiry.kind === 'answer' && otherwise === 'assume'
    ? { kind: 'assumed', text: inquiry.question.assume, at }
    : { kind: 'expired', at };
}

function closeInquiry(dialogue: Dialogue, open: Inquiry, settled: Settlement) {
  const last: Inquiry = { ...open, settled };
  const inquiries = [...dialogue.inquiries.slice(0, -1), last];
  return { dialogue: { ...dialogue, inquiries }, next: nextAfter(last) };
}

function nextAfter(inquiry: Inquiry | undefined): NextStep {
  switch (inquiry?.settled?.kind) {
    case 'answered':
    case 'revised':
      return { kind: 'replan' };
    case 'expired':
      return { kind: 'stop', because: expiryReason(inquiry) };
    default:
      return { kind: 'go' };
  }
}

/** `nobody answered within 72 h`. */
export function expiryReason({ kind, askedAt, until }: Inquiry): string {
  return `nobody ${kind === 'approval' ? 'approved the plan' : 'answered'} within ${durationText(until - askedAt)}`;
}

const UNITS = [
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const;

/** In the biggest unit that leaves no rest: `72 h`, `90 min`. */
export function durationText(ms: number): string {
  for (const [unit, name] of UNITS) if (ms >= unit && ms % unit === 0) return `${ms / unit} ${name}`;
  return `${Math.ceil(ms / 1_000)} s`;
}

/** Questions that one run asks at most; what is left is assumed. Our default: a person's patience is short. */
export const MAX_QUESTIONS_ASKED = 3;

export interface InquiryContext {
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
 * where all is agreed, or something is open already. A question is distinguished from another by its words.
 */
export function nextInquiry(dialogue: Dialogue, wanted: InquiryContext): Inquiry | null {
  if (openInquiry(dialogue)) return null;
  const { now, withinMs } = wanted;
  const base = { number: dialogue.inquiries.length + 1, askedAt: now, until: now + withinMs };
  const mayAsk = wanted.mayAsk && questionsAsked(dialogue) < MAX_QUESTIONS_ASKED;
  const question = mayAsk && unasked(dialogue, wanted).find(({ severity }) => severity === 'blocking');
  if (question) return { ...base, kind: 'answer', question };
  return wanted.approval === 'plan' && !isApproved(dialogue) ? { ...base, kind: 'approval' } : null;
}

/** The dialogue with one more inquiry. What was said before it was asked is no reply to it. */
export function withInquiry(dialogue: Dialogue, inquiry: Inquiry, replies: readonly Reply[]): Dialogue {
  return {
    ...dialogue,
    inquiries: [...dialogue.inquiries, inquiry],
    lastReply: Math.max(dialogue.lastReply, ...replies.map(({ number }) => number)),
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
  const unanswered = dialogue.inquiries.flatMap((inquiry) =>
    inquiry.kind === 'answer' && inquiry.settled?.kind === 'assumed' ? [inquiry.question] : [],
  );
  const assumed = new Set([...unanswered, ...bySeverity(unasked(dialogue, brief))].map(assumptionText));
  const fresh = [...assumed].filter((text) => !brief.assumptions.includes(text)).slice(0, MAX_ASSUMPTIONS);
  if (fresh.length === 0 && brief.questions.length === 0) return brief;
  const kept = brief.assumptions.slice(0, MAX_ASSUMPTIONS - fresh.length);
  return { ...brief, assumptions: [...kept, ...fresh], questions: [] };
}

const bySeverity = (questions: readonly Question[]): readonly Question[] =>
  questions.toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));

/** As many as the planner may make. */
const MAX_ASSUMPTIONS = 20;
/** As long as an assumption of the planner may be. */
const MAX_ASSUMPTION_CHARS = 500;

function assumptionText({ text, assume }: Question): string {
  const whole = `${text} Assumed: ${assume}`;
  return whole.length <= MAX_ASSUMPTION_CHARS ? whole : `Assumed: ${assume}`;
}

const questionsAsked = (dialogue: Dialogue): number =>
  dialogue.inquiries.filter(({ kind }) => kind === 'answer').length;

function unasked(dialogue: Dialogue, { questions }: Pick<InquiryContext, 'questions'>): readonly Question[] {
  const known = new Set(
    dialogue.inquiries.flatMap((inquiry) =>
      inquiry.kind === 'answer' ? [normalizedQuestion(inquiry.question.text)] : [],
    ),
  );
  return questions.filter(({ text }) => !known.has(normalizedQuestion(text)));
}

const normalizedQuestion = (text: string): string => text.trim().replace(/\s+/g, ' ').toLowerCase();

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
  readonly settled?: Settlement;
} & ({ readonly kind: 'answer'; readonly question: Question } | { readonly kind: 'approval' });

export type Settlement =
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
  readonly lastReply: number;
  /** How many answers and wishes the brief takes into account. */
  readonly repliesUsed: number;
}

export const NO_DIALOGUE: Dialogue = { inquiries: [], lastReply: 0, repliesUsed: 0 };
