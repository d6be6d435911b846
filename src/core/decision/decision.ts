import type { Evidence } from '../evidence/index.ts';
import type { Alias } from '../model/index.ts';
import type { Ranked, Separator } from '../ranking/index.ts';

/** What we do about the evidence. `none` is a first-class result: no pull request is opened. */
export type Decision =
  | {
      readonly kind: 'winner';
      readonly alias: Alias;
      readonly confidence: 'clear' | 'likely';
      readonly decidedBy: Separator;
      readonly because: string;
    }
  | { readonly kind: 'none'; readonly decidedBy: Separator; readonly because: string };

export function decide(_ranking: readonly Ranked[], _evidence: readonly Evidence[]): Decision {
  throw new Error('replaced by the implementation');
}
