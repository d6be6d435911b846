import {
  checkVerdict,
  comparisonQuestion,
  type Identities,
  type JudgeAnswer,
  type ShownCandidate,
  Verdict,
} from '../../core/judging/index.ts';
import { stableNonce } from '../context.ts';
import type { JudgeModel, JudgeModelParts } from './judge-model.ts';

/** One pair in one order, for one judge. */
interface BlindComparison {
  /** `provider/model`. */
  readonly model: string;
  readonly judgeModel: JudgeModel;
  /** Untrusted text. */
  readonly task: string;
  readonly sides: { readonly first: ShownCandidate; readonly second: ShownCandidate };
  /** Names that must not be shown. */
  readonly identities: Identities;
  /** Names of the two sides in the key of the remembered answer; not shown. */
  readonly names: readonly [first: string, second: string];
  /**
   * Drawn for a judgement, after everything that its questions show was written: they then share their beginning, which
   * providers cache. Absent: drawn for this question alone.
   */
  readonly nonce?: string;
}

/** Asks a judge once, and remembers its answer. Model failures are values. */
export function askBothSides(
  parts: Pick<JudgeModelParts, 'random' | 'remember'> & { readonly instructions: string },
  { model, judgeModel, task, sides, identities, names, nonce: drawn }: BlindComparison,
): Promise<JudgeAnswer> {
  const shown = [sides.first, sides.second].map(({ patch, facts }) => [patch.production, patch.tests, facts]);
  const key = JSON.stringify(['judge', model, ...names, task, shown]);
  return parts.remember(key, async (): Promise<JudgeAnswer> => {
    const nonce = drawn ?? (await stableNonce(parts, key));
    const question = comparisonQuestion(task, sides, identities, nonce);
    if (question.kind === 'leak')
      return { kind: 'unusable', answered: false, why: 'Its question revealed an author.' };
    const { instructions } = parts;
    const { text, sharedChars } = question;
    const answer = await judgeModel.ask({ instructions, prompt: text, sharedChars, schema: Verdict });
    if (answer.kind === 'failed') return { kind: 'unusable', answered: false, why: answer.why };
    return checkVerdict(answer.value, {
      first: sides.first.patch,
      second: sides.second.patch,
      nonce,
      instructions,
    });
  });
}
