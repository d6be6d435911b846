import type { Alias } from '../model/index.ts';
import type { CoderSetting, Evaluator } from '../policy/index.ts';

/** What a run is asked to do otherwise than the settings say; the operator's ceilings still apply. */
export interface RunWish {
  readonly candidates?: number;
  readonly coders?: readonly CoderSetting[];
  readonly evaluator?: readonly Evaluator[];
  readonly timeoutSeconds?: number;
  /** US dollars. */
  readonly budgetUsd?: number;
  /** Branch, tag or commit. */
  readonly base?: string;
}

/** What a person asked for by a comment. */
export type Command =
  | { readonly name: 'run'; readonly wish: RunWish }
  /** `alias`: this candidate's contestant once more beside what the others wrote; null: all of it anew. */
  | { readonly name: 'retry'; readonly alias: Alias | null }
  /** `alias` null: none of them. */
  | { readonly name: 'pick'; readonly alias: Alias | null }
  | { readonly name: 'vote'; readonly alias: Alias }
  | { readonly name: 'explain'; readonly alias: Alias }
  | { readonly name: 'answer'; readonly option: number }
  | { readonly name: 'answer'; readonly text: string }
  | { readonly name: 'revise'; readonly text: string }
  /** US dollars for the whole run. */
  | { readonly name: 'budget'; readonly usd: number }
  | { readonly name: 'approve' }
  | { readonly name: 'status' }
  | { readonly name: 'cancel' }
  | { readonly name: 'ci' }
  | { readonly name: 'review' }
  | { readonly name: 'fix' }
  | { readonly name: 'help' }
  /** Addressed to us and not understood. `meant` is the command that was probably meant. */
  | {
      readonly name: 'unknown';
      readonly word: string;
      readonly meant: CommandName | null;
      /** A sentence for whoever wrote it. */
      readonly why: string;
    };

export type CommandName = Exclude<Command['name'], 'unknown'>;
