import type { Alias } from '../model/index.ts';
import type { CoderSetting, Evaluator, When } from '../settings/index.ts';

/** Options of one run that override the settings; the operator's ceilings still apply. */
export interface RunCommandOptions {
  readonly candidates?: number;
  readonly coders?: readonly CoderSetting[];
  /** Prompt variants, assigned in turn to the coders. */
  readonly prompts?: readonly string[];
  readonly debate?: When;
  readonly review?: When;
  readonly synthesis?: boolean;
  readonly evaluator?: readonly Evaluator[];
  readonly timeoutSeconds?: number;
  /** US dollars. */
  readonly budgetUsd?: number;
  /** Branch, tag or commit. */
  readonly base?: string;
}

/** A person's command in a comment. */
export type Command =
  | { readonly name: 'run'; readonly options: RunCommandOptions }
  /**
   * `alias`: runs this candidate's contestant again, in addition to existing patches; null: repeats the whole run, with
   * `options` in place of those that it had. Absent: the same options.
   */
  | { readonly name: 'retry'; readonly alias: Alias | null; readonly options?: RunCommandOptions }
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
  /** Has critics debate the brief, which then waits for approval. */
  | { readonly name: 'debate' }
  | { readonly name: 'status' }
  | { readonly name: 'cancel' }
  | { readonly name: 'ci' }
  | { readonly name: 'settings' }
  | { readonly name: 'review' }
  | { readonly name: 'fix' }
  | { readonly name: 'help' }
  /** Addressed to Runoff, but invalid. `meant` is the command that was probably intended. */
  | {
      readonly name: 'unknown';
      readonly word: string;
      readonly meant: CommandName | null;
      /** A sentence for the author. */
      readonly why: string;
    };

export type CommandName = Exclude<Command['name'], 'unknown'>;

/** Documentation of one command. */
export interface CommandRow {
  /** All syntax variants; capitals are placeholders, brackets are optional. */
  readonly usage: readonly [string, ...string[]];
  /** A clause, after "which". */
  readonly does: string;
  /** Where it can be used: an issue, a pull request, or either. */
  readonly where: 'issue' | 'pull' | 'both';
  readonly example: string;
}

/** All commands in the order of the help. The parser, the help and docs/commands.md are generated from these rows. */
export const COMMANDS = {
  run: {
    usage: [
      '/auto-dev run',
      '/auto-dev run [--coders A,B] [--models X,Y] [--prompts P,Q] [-n N] [--evaluator E,F] [--debate WHEN] [--review WHEN] [--synthesis true] [--budget DOLLARS] [--timeout TIME] [--base REF]',
    ],
    does: 'starts a run on this issue, optionally with other settings for this run only; `--coders auto` chooses the coders from earlier runs',
    where: 'issue',
    example: '/auto-dev run -n 4 --models anthropic/claude-sonnet-5,openai/gpt-6-sol --budget 8',
  },
  status: {
    usage: ['/auto-dev status'],
    does: 'shows the status of the run and what it has spent',
    where: 'both',
    example: '/auto-dev status',
  },
  cancel: {
    usage: ['/auto-dev cancel'],
    does: 'cancels the run; finished work stays in its record',
    where: 'both',
    example: '/auto-dev cancel',
  },
  retry: {
    usage: ['/auto-dev retry [all] [OPTIONS OF RUN]', '/auto-dev retry X'],
    does: 'repeats the whole run, with other options where they are given, or only the contestant of one candidate, who competes with the existing candidates',
    where: 'both',
    example: '/auto-dev retry B',
  },
  pick: {
    usage: ['/auto-dev pick X', '/auto-dev pick none'],
    does: 'opens the pull request with this candidate, or replaces the current one; `none` rejects them all',
    where: 'both',
    example: '/auto-dev pick B',
  },
  vote: {
    usage: ['/auto-dev vote X'],
    does: 'records your vote for a candidate; a later vote replaces it',
    where: 'both',
    example: '/auto-dev vote B',
  },
  explain: {
    usage: ['/auto-dev explain X'],
    does: 'shows everything known about one candidate',
    where: 'both',
    example: '/auto-dev explain C',
  },
  answer: {
    usage: ['/auto-dev answer N', '/auto-dev answer TEXT'],
    does: 'answers the open question with an option or in your own words',
    where: 'both',
    example: '/auto-dev answer 2',
  },
  debate: {
    usage: ['/auto-dev debate'],
    does: 'lets critics debate the plan that waits for approval; without a run, starts one that debates the issue and then waits for approval',
    where: 'both',
    example: '/auto-dev debate',
  },
  approve: {
    usage: ['/auto-dev approve'],
    does: 'approves the plan so that the coders can start',
    where: 'both',
    example: '/auto-dev approve',
  },
  revise: {
    usage: ['/auto-dev revise TEXT'],
    does: 'asks for a different plan',
    where: 'both',
    example: '/auto-dev revise Leave the public functions as they are.',
  },
  ci: {
    usage: ['/auto-dev ci'],
    does: "starts GitHub's own CI on a Runoff pull request by pushing an empty commit without the CI hold",
    where: 'both',
    example: '/auto-dev ci',
  },
  settings: {
    usage: ['/auto-dev settings'],
    does: 'opens a draft pull request that adds `.github/auto-dev.yml` with the commands that the run found; it never changes an existing file',
    where: 'both',
    example: '/auto-dev settings',
  },
  budget: {
    usage: ['/auto-dev budget DOLLARS'],
    does: "sets the budget of the whole run in US dollars, within the operator's limit",
    where: 'both',
    example: '/auto-dev budget 10',
  },
  review: {
    usage: ['/auto-dev review'],
    does: 'starts a run that addresses comments by reviewers with write access; the result is a draft pull request into this branch',
    where: 'pull',
    example: '/auto-dev review',
  },
  fix: {
    usage: ['/auto-dev fix'],
    does: 'starts a run that fixes failing checks, or else addresses the review; the result is a draft pull request into this branch',
    where: 'pull',
    example: '/auto-dev fix',
  },
  help: {
    usage: ['/auto-dev help'],
    does: 'shows this list',
    where: 'both',
    example: '/auto-dev help',
  },
} as const satisfies Record<CommandName, CommandRow>;

export const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[];

/** Why a command does not work here, a sentence; null if it does. */
export function misplaced(name: CommandName, isPull: boolean): string | null {
  const { where } = COMMANDS[name];
  if (where === 'both' || (where === 'pull') === isPull) return null;
  return isPull
    ? `\`/auto-dev ${name}\` works only on issues. On a pull request, \`/auto-dev review\` addresses review comments and \`/auto-dev fix\` fixes failing checks.`
    : `\`/auto-dev ${name}\` works only on pull requests. On an issue, \`/auto-dev run\` starts a run.`;
}
