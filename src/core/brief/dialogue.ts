import { type Actor, type Brief, type Question, SEVERITIES } from '../model/index.ts';

/** The next step of a run after a reply or a time-out. */
export type NextStep =
  /** Remaining milliseconds. */
  | { readonly kind: 'waits'; readonly ms: number }
  /** The planner takes the reply into account, or critics debate the brief. */
  | { readonly kind: 'replan' }
  | { readonly kind: 'go' }
  /** One clause, for the run's record. */
  | { readonly kind: 'stop'; readonly because: string };

type ReplyMatch =
  | { readonly kind: 'fits'; readonly settled: Settlement }
  /** A sentence for the author of the reply. */
  | { readonly kind: 'unfit'; readonly why: string };

/**
 * Processes the replies since the last check, in order. The first valid one settles the open inquiry, even after its
 * deadline; later ones are ignored, because the question is then answered. With no open inquiry, returns the last
 * one's result, so that a step repeated after a crash decides the same.
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
 * Whether a reply settles an inquiry, and how. A question accepts an option's number, or any text, including one
 * meant as a request for another plan; without options a number is text. A plan accepts an approval, or a request for
 * a debate or changes; an answer is neither, because it does not say whether it asks for another plan.
 */
export function matchReply(inquiry: Inquiry, reply: NewReply): ReplyMatch {
  return inquiry.kind === 'approval' ? matchApproval(reply) : matchAnswer(inquiry.question.options, reply);
}

function matchAnswer(options: readonly string[], reply: NewReply): ReplyMatch {
  const { kind, option, by, at } = reply;
  if (kind === 'approve')
    return mismatch('The run is waiting for an answer to a question, not for an approval.');
  if (kind === 'debate')
    return mismatch('The run is waiting for an answer to a question. Its plan can be debated after that.');
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
  if (kind === 'debate') return { kind: 'fits', settled: { kind: 'debated', by, at } };
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
    case 'debated':
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

/** In the largest unit that divides it evenly: `72 h`, `90 min`. */
export function durationText(ms: number): string {
  for (const [unit, name] of UNITS) if (ms >= unit && ms % unit === 0) return `${ms / unit} ${name}`;
  return `${Math.ceil(ms / 1_000)} s`;
}

/** Maximum questions of one run; the rest is assumed. Default: people's patience is limited. */
export const MAX_QUESTIONS_ASKED = 3;

export interface InquiryContext {
  /** Of the newest brief. */
  readonly questions: readonly Question[];
  readonly approval: 'never' | 'plan';
  /** False: no person can be asked, and every question is assumed. */
  readonly mayAsk: boolean;
  /** Milliseconds since 1970 UTC. */
  readonly now: number;
  readonly withinMs: number;
}

/** The inquiry that waits for a reply; null for none. */
export function openInquiry(dialogue: Dialogue): Inquiry | null {
  const last = dialogue.inquiries.at(-1);
  return last && !last.settled ? last : null;
}

/**
 * The next inquiry: the first blocking question not asked yet, then approval of the plan. Null if everything is
 * agreed, or an inquiry is already open. Questions are identified by their words.
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

/** Adds an inquiry to the dialogue. Earlier replies do not count as replies to it. */
export function withInquiry(dialogue: Dialogue, inquiry: Inquiry, replies: readonly Reply[]): Dialogue {
  return {
    ...dialogue,
    inquiries: [...dialogue.inquiries, inquiry],
    lastReply: Math.max(dialogue.lastReply, ...replies.map(({ number }) => number)),
  };
}

/**
 * Turns every unanswered question into an assumption, because coders read no questions. Used when no further question
 * will be asked: none remains open. If there are too many assumptions, the planner's last ones are dropped.
 * Idempotent.
 */
export function withAssumed<B extends Pick<Brief, 'assumptions' | 'questions'>>(
  brief: B,
  dialogue: Dialogue,
): B {
  const unanswered = dialogue.inquiries.flatMap((inquiry) =>
    inquiry.kind === 'answer' && inquiry.settled?.kind === 'assumed' ? [inquiry.question] : [],
  );
  const assumed = [...unanswered, ...bySeverity(unasked(dialogue, brief))];
  const full = withAssumptions(brief, assumed);
  return full.questions.length === 0 ? full : { ...full, questions: [] };
}

/** Keeps as many questions as a brief may have, the gravest, and turns the others into assumptions. */
export function withQuestions<B extends Pick<Brief, 'assumptions' | 'questions'>>(
  brief: B,
  questions: readonly Question[],
): B {
  const ordered = bySeverity(questions);
  const kept = ordered.slice(0, MAX_QUESTIONS);
  return { ...withAssumptions(brief, ordered.slice(MAX_QUESTIONS)), questions: kept };
}

function withAssumptions<B extends Pick<Brief, 'assumptions'>>(brief: B, questions: readonly Question[]): B {
  const assumed = new Set(questions.map(assumptionText));
  const fresh = [...assumed].filter((text) => !brief.assumptions.includes(text)).slice(0, MAX_ASSUMPTIONS);
  if (fresh.length === 0) return brief;
  return { ...brief, assumptions: [...brief.assumptions.slice(0, MAX_ASSUMPTIONS - fresh.length), ...fresh] };
}

/** The sort is stable. */
const bySeverity = (questions: readonly Question[]): readonly Question[] =>
  questions.toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));

/** As many as the planner may make. */
const MAX_QUESTIONS = 5;
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

/** Approved, and not followed by what may change the plan. */
function isApproved({ inquiries }: Dialogue): boolean {
  const kinds = inquiries.map(({ settled }) => settled?.kind);
  const newPlan = kinds.findLastIndex(
    (kind) => kind === 'answered' || kind === 'revised' || kind === 'debated',
  );
  return kinds.lastIndexOf('approved') > newPlan;
}

/** A person's reply to a waiting run. */
export interface Reply {
  /** 1-based, in order of arrival at this run. */
  readonly number: number;
  readonly kind: 'answer' | 'approve' | 'debate' | 'revise';
  /** 1-based option of an answer; absent: `text` is the answer. */
  readonly option?: number;
  /** Bounded free text; empty for an approval and a debate. */
  readonly text: string;
  /** Null: a person at this machine's command line. */
  readonly by: Actor | null;
  /** Milliseconds since 1970 UTC. */
  readonly at: number;
}

export type NewReply = Omit<Reply, 'number'>;

/** An inquiry of a run, with its result. */
export type Inquiry = {
  /** 1-based. */
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
  /** Asked for a debate of the plan. */
  | { readonly kind: 'debated'; readonly by: Actor | null; readonly at: number }
  | { readonly kind: 'revised'; readonly text: string; readonly by: Actor | null; readonly at: number }
  /** Timed out: the question's assumption is used. */
  | { readonly kind: 'assumed'; readonly text: string; readonly at: number }
  /** Timed out, and the run ended. */
  | { readonly kind: 'expired'; readonly at: number };

/** The dialogue between a run and its maintainers about the brief. */
export interface Dialogue {
  readonly inquiries: readonly Inquiry[];
  /** Number of the last processed reply. */
  readonly lastReply: number;
  /** Number of answers and requests that the brief takes into account. */
  readonly repliesUsed: number;
  /** Number of debates that were asked for and have ended; absent: none. */
  readonly debatesHeld?: number;
}

/** Number of debates that people asked for. */
export const debatesAskedFor = ({ inquiries }: Dialogue): number =>
  inquiries.filter(({ settled }) => settled?.kind === 'debated').length;

/** Whether nobody has changed the brief since its last debate, if there was one. */
export function isAsDebated({ inquiries }: Dialogue): boolean {
  const kinds = inquiries.map(({ settled }) => settled?.kind);
  const changed = kinds.findLastIndex((kind) => kind === 'answered' || kind === 'revised');
  return changed < 0 || kinds.lastIndexOf('debated') > changed;
}

export const NO_DIALOGUE: Dialogue = { inquiries: [], lastReply: 0, repliesUsed: 0 };
