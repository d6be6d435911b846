import { type Brief, type Question, SEVERITIES } from '../model/index.ts';
import type { Dialogue, Inquiry, Reply } from './types.ts';

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
