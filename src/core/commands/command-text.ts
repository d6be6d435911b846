import type { Evaluator } from '../settings/index.ts';
import { parseCommand } from './parse.ts';

/** Options of `run` as a request names them: agents and models are assigned in turn. */
export interface RunTextOptions {
  readonly candidates?: number | undefined;
  readonly coders?: readonly string[] | undefined;
  readonly models?: readonly string[] | undefined;
  readonly evaluator?: readonly Evaluator[] | undefined;
  /** US dollars, in whole cents. */
  readonly budgetUsd?: number | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly base?: string | undefined;
}

/** Text that cannot end its quotation marks, or the list that it stands in. */
const UNQUOTED = /^[^\s,"'`“”‘’]+$/;

/**
 * The comment that starts a run with these options, so that a request has exactly the effects of that comment; or a
 * sentence that says which option is wrong.
 */
export function runCommandText(
  options: RunTextOptions,
): { readonly kind: 'text'; readonly text: string } | { readonly kind: 'invalid'; readonly why: string } {
  const { candidates, coders, models, evaluator, budgetUsd, timeoutSeconds, base } = options;
  const words: readonly (readonly [flag: string, values: readonly string[] | undefined])[] = [
    ['candidates', candidates === undefined ? undefined : [String(candidates)]],
    ['coders', coders],
    ['models', models],
    ['evaluator', evaluator],
    ['budget', budgetUsd === undefined ? undefined : [budgetUsd.toFixed(2)]],
    ['timeout', timeoutSeconds === undefined ? undefined : [`${timeoutSeconds}s`]],
    ['base', base === undefined ? undefined : [base]],
  ];
  const flags: string[] = [];
  for (const [flag, values] of words) {
    if (values === undefined) continue;
    const wrong = values.find((value) => !UNQUOTED.test(value));
    if (wrong !== undefined)
      return { kind: 'invalid', why: `\`${flag}\` takes names without blanks, commas and quotation marks.` };
    flags.push(` --${flag}="${values.join(',')}"`);
  }
  const text = `/auto-dev run${flags.join('')}`;
  const command = parseCommand(text);
  return command?.name === 'unknown' ? { kind: 'invalid', why: command.why } : { kind: 'text', text };
}
