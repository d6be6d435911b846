import type { z } from 'zod';
import type { Brief, Task } from '../../core/model/index.ts';
import { block } from '../../core/prompts/index.ts';
import type { Gateway, Model, Random } from '../../ports/index.ts';
import { askModel, payerOf } from '../ask-model.ts';
import type { Remember } from './remember.ts';

/** Where a writer of tests works. */
export interface Desk {
  readonly gateway: Pick<Gateway, 'open' | 'route'>;
  readonly model: Model;
  readonly random: Pick<Random, 'nonce'>;
  /** `provider/model` names in the order in which they are asked; `writersInOrder` gives it. */
  readonly models: readonly string[];
  readonly task: Pick<Task, 'runId' | 'origin' | 'title' | 'body' | 'comments' | 'settings'>;
  readonly brief: Brief;
  /** Keeps paid answers: asked for again after a crash, they are given back, not paid again. */
  readonly remember: Remember;
  readonly signal: AbortSignal;
}

export interface Order<T> {
  /** Whose calls these are in the ledger. */
  readonly spender: 'writer' | 'distinguisher' | 'reviewer' | `review-${string}`;
  /** The most of the run's budget that this spender may use, 0 to 1, all its calls together. */
  readonly share: number;
  readonly instructions: string;
  readonly prompt: string;
  readonly schema: z.ZodType<T>;
}

export type Heard<T> =
  | { readonly kind: 'answer'; readonly value: T; readonly model: string }
  /** One sentence for people. */
  | { readonly kind: 'nothing'; readonly why: string };

class NoAnswer extends Error {}

/** Keeps an answer for the run. That there was none is not kept: a provider that was away is asked again. */
export async function kept<T>(
  desk: Pick<Desk, 'remember'>,
  key: string,
  work: () => Promise<Heard<T>>,
): Promise<Heard<T>> {
  try {
    return await desk.remember(key, async () => {
      const heard = await work();
      if (heard.kind === 'nothing') throw new NoAnswer(heard.why);
      return heard;
    });
  } catch (thrown) {
    if (thrown instanceof NoAnswer) return { kind: 'nothing', why: thrown.message };
    throw thrown;
  }
}

/** Models that are asked before it is given up. Our default. */
const MOST_MODELS = 2;

/** Asks for one schema-checked answer, within a share of the budget. Whatever a model or provider does, it is a value. */
export async function ask<T>(desk: Desk, { share, ...question }: Order<T>): Promise<Heard<T>> {
  const payer = payerOf(desk.task);
  const capUsd = Math.min(1, share) * payer.runCapUsd;
  let why = 'No model is configured.';
  for (const model of desk.models.slice(0, MOST_MODELS)) {
    const said = await askModel(desk, payer, { ...question, model, capUsd });
    if (said.kind === 'answer') return { kind: 'answer', value: said.value, model };
    why = said.why;
  }
  return { kind: 'nothing', why };
}

/** What is asked for, as blocks: the issue, comments of those who may write, the brief. */
export function taskBlocks({ task, brief }: Pick<Desk, 'task' | 'brief'>, nonce: string): readonly string[] {
  const comments = task.comments.map((one) => `${one.author} wrote:\n${one.body}`).join('\n\n');
  const list = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [`${title}:\n${lines.map((line) => `- ${line}`).join('\n')}`];
  const text = [
    brief.goal,
    ...list('Done means', brief.definitionOfDone),
    ...list('Assumptions', brief.assumptions),
    ...list('Worth a test', brief.acceptance ?? []),
  ];
  return [
    block('TASK', nonce, `${task.title}\n\n${task.body}`),
    ...(comments ? [block('COMMENTS', nonce, comments)] : []),
    block('BRIEF', nonce, text.join('\n\n')),
  ];
}

/** Texts that say what is wanted; what the planner took for granted is not among them. */
export const wantedTexts = ({ task, brief }: Pick<Desk, 'task' | 'brief'>): readonly string[] => [
  task.title,
  task.body,
  ...task.comments.map((one) => one.body),
  brief.goal,
  ...brief.definitionOfDone,
];
