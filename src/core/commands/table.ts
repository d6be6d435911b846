import type { CommandName } from './command.ts';

/** One command as people are told about it. */
export interface CommandRow {
  /** Every way to write it; capitals stand for what is filled in, brackets for what may be left out. */
  readonly usage: readonly [string, ...string[]];
  /** A clause, after "which". */
  readonly does: string;
  /** On what it can be given: an issue, a pull request, or either. */
  readonly where: 'issue' | 'pull' | 'both';
  /** The right that is read from GitHub at that moment (I4). */
  readonly needs: 'write';
  readonly example: string;
}

/** All commands, in the order of the help. The parser, the help and docs/commands.md are made from these rows. */
export const COMMANDS = {
  run: {
    usage: [
      '/auto-dev run',
      '/auto-dev run [--coders A,B] [--models X,Y] [-n N] [--evaluator E,F] [--budget DOLLARS] [--timeout TIME] [--base REF]',
    ],
    does: 'starts a run on this issue, for this once with other settings than the repository has',
    where: 'issue',
    needs: 'write',
    example: '/auto-dev run -n 4 --models anthropic/claude-sonnet-5,openai/gpt-6-sol --budget 8',
  },
  status: {
    usage: ['/auto-dev status'],
    does: 'says where the run stands and what it has spent',
    where: 'both',
    needs: 'write',
    example: '/auto-dev status',
  },
  cancel: {
    usage: ['/auto-dev cancel'],
    does: 'stops the run; what was written until then stays in its record',
    where: 'both',
    needs: 'write',
    example: '/auto-dev cancel',
  },
  retry: {
    usage: ['/auto-dev retry [all]', '/auto-dev retry X'],
    does: 'does all of it anew, or lets the contestant of one candidate try once more beside the others',
    where: 'both',
    needs: 'write',
    example: '/auto-dev retry B',
  },
  pick: {
    usage: ['/auto-dev pick X', '/auto-dev pick none'],
    does: 'makes this candidate the pull request, now or in place of another; `none` opens none',
    where: 'both',
    needs: 'write',
    example: '/auto-dev pick B',
  },
  vote: {
    usage: ['/auto-dev vote X'],
    does: 'counts your vote for a candidate; a later vote of yours takes its place',
    where: 'both',
    needs: 'write',
    example: '/auto-dev vote B',
  },
  explain: {
    usage: ['/auto-dev explain X'],
    does: 'tells everything that is known about one candidate',
    where: 'both',
    needs: 'write',
    example: '/auto-dev explain C',
  },
  answer: {
    usage: ['/auto-dev answer N', '/auto-dev answer TEXT'],
    does: 'answers the open question by an option or in your own words',
    where: 'both',
    needs: 'write',
    example: '/auto-dev answer 2',
  },
  approve: {
    usage: ['/auto-dev approve'],
    does: 'lets the coders start on the plan',
    where: 'both',
    needs: 'write',
    example: '/auto-dev approve',
  },
  revise: {
    usage: ['/auto-dev revise TEXT'],
    does: 'asks for another plan',
    where: 'both',
    needs: 'write',
    example: '/auto-dev revise Leave the public functions as they are.',
  },
  ci: {
    usage: ['/auto-dev ci'],
    does: "lets GitHub's own CI run on a pull request of ours, by a commit that holds it no longer",
    where: 'both',
    needs: 'write',
    example: '/auto-dev ci',
  },
  budget: {
    usage: ['/auto-dev budget DOLLARS'],
    does: "sets what the whole run may cost, in US dollars, within the operator's limit",
    where: 'both',
    needs: 'write',
    example: '/auto-dev budget 10',
  },
  review: {
    usage: ['/auto-dev review'],
    does: 'starts a run that answers what reviewers with write permission wrote; its result is a draft pull request into this branch',
    where: 'pull',
    needs: 'write',
    example: '/auto-dev review',
  },
  fix: {
    usage: ['/auto-dev fix'],
    does: 'starts a run that mends the checks that fail here, or else answers the review; its result is a draft pull request into this branch',
    where: 'pull',
    needs: 'write',
    example: '/auto-dev fix',
  },
  help: {
    usage: ['/auto-dev help'],
    does: 'shows this list',
    where: 'both',
    needs: 'write',
    example: '/auto-dev help',
  },
} as const satisfies Record<CommandName, CommandRow>;

export const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[];

/** Why a command cannot be given where it was given, a sentence; null where it can. */
export function misplaced(name: CommandName, isPull: boolean): string | null {
  const { where } = COMMANDS[name];
  if (where === 'both' || (where === 'pull') === isPull) return null;
  return isPull
    ? `\`/auto-dev ${name}\` is for issues. On a pull request, \`/auto-dev review\` answers what reviewers wrote and \`/auto-dev fix\` mends what fails.`
    : `\`/auto-dev ${name}\` is for pull requests. On an issue, \`/auto-dev run\` starts a run.`;
}
