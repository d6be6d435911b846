import type { RunCommandOptions } from './command.ts';
import type { RunOption } from './run-options.ts';

type Given<Options> = { readonly [Name in keyof Options]?: Options[Name] | undefined };

/** Options of `run` as a request names them: agents and models are assigned in turn. */
export type RunTextOptions = Given<
  Omit<RunCommandOptions, 'coders'> & {
    readonly coders: readonly string[];
    readonly models: readonly string[];
  }
>;

/** How each option is written; undefined: not at all. */
const VALUES: Readonly<
  Record<RunOption, (options: RunTextOptions) => string | number | boolean | readonly string[] | undefined>
> = {
  candidates: ({ candidates }) => candidates,
  coders: ({ coders }) => coders,
  models: ({ models }) => models,
  prompts: ({ prompts }) => prompts,
  evaluator: ({ evaluator }) => evaluator,
  debate: ({ debate }) => debate,
  review: ({ review }) => review,
  synthesis: ({ synthesis }) => synthesis,
  budget: ({ budgetUsd }) => budgetUsd?.toFixed(2),
  timeout: ({ timeoutSeconds }) => (timeoutSeconds === undefined ? undefined : `${timeoutSeconds}s`),
  base: ({ base }) => base,
};

/** The text of an option's value, as `parseRunOption` takes it. */
export const runOptionText = (value: string | number | boolean | readonly string[]): string =>
  [value].flat().join(',');

/**
 * The comment that starts a run with these options, so that a request has exactly the effects of that comment. Values
 * must have no blanks, commas or quotation marks: the comment would have other options.
 */
export function runCommandText(options: RunTextOptions): string {
  const flags = Object.entries(VALUES).flatMap(([flag, valueIn]) => {
    const value = valueIn(options);
    return value === undefined ? [] : [` --${flag}="${runOptionText(value)}"`];
  });
  return `/auto-dev run${flags.join('')}`;
}
