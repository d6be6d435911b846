import {
  blind,
  type Competitor,
  identitiesOf,
  type Pool,
  panelOf,
  Review,
  type Reviewed,
  reviewed,
  reviewQuestionOf,
} from '../../core/judging/index.ts';
import { ANSWER_MS, type AskParts, openDesk } from './ask.ts';

/** Of the run's budget. Our default. */
const REVIEWER_SHARE = 0.05;

export interface ReviewParts extends AskParts {
  /** The text of `reviewer.md`, or what the operator put in its place. */
  readonly instructions: string;
}

/**
 * Asks one model, of another family than the author where there is one, for a defect in a candidate. What it claims is
 * data: the tests in it are for others to execute. Rejects only when the run is cancelled, and for faults that stop a run.
 */
export async function reviewCandidate(
  parts: ReviewParts,
  pool: Pick<Pool, 'task' | 'authors'>,
  { alias, files, facts, author }: Competitor,
): Promise<Reviewed> {
  const [reviewer] = panelOf([author], parts.models, 1);
  if (!reviewer) return { kind: 'ignored', because: 'No model is available as a reviewer.' };
  const identities = identitiesOf(pool.authors);
  const patch = blind(files, identities);
  const desk = await openDesk(parts, {
    spender: 'reviewer',
    model: reviewer.model,
    capUsd: parts.payer.runCapUsd * REVIEWER_SHARE,
    ttlMs: 2 * ANSWER_MS,
  });
  try {
    return await parts.remember(`review:${reviewer.model}:${alias}`, async (): Promise<Reviewed> => {
      const nonce = parts.random.nonce();
      const question = reviewQuestionOf(pool.task, { patch, facts }, identities, nonce);
      if (question.kind === 'leak') return { kind: 'ignored', because: 'The question named an author.' };
      const { instructions } = parts;
      const answer = await desk.ask({ instructions, prompt: question.text, schema: Review });
      if (answer.kind === 'failed') {
        return { kind: 'ignored', because: `The reviewer was lost: ${answer.why}` };
      }
      return reviewed(alias, answer.value, { patch, nonce, instructions });
    });
  } finally {
    await desk.close();
  }
}
