import { type Command, InvalidArgumentError, Option } from 'commander';
import { codersOf, parseRunOption, type RunOption } from '../core/commands/index.ts';
import { EVALUATORS } from '../core/settings/index.ts';
import type { Overrides } from '../runs/index.ts';
import type { Screen, Shell } from '../shell.ts';
import { jsonOption } from './options.ts';
import { resume, runHere } from './run.ts';

type Parsed = Exclude<ReturnType<typeof parseRunOption>, string>;

interface RunFlags {
  readonly file?: string;
  readonly promptFile?: string;
  readonly repo: string;
  readonly base?: string;
  readonly baseBranch?: string;
  readonly includeChanges?: boolean;
  readonly candidates?: Parsed;
  readonly coders?: Parsed;
  readonly agents?: Parsed;
  readonly models?: Parsed;
  readonly prompts?: Parsed;
  readonly evaluator?: Parsed;
  readonly debate?: Parsed;
  readonly review?: Parsed;
  readonly synthesis?: boolean;
  readonly setup?: string;
  readonly build?: string;
  readonly test?: string;
  readonly timeout?: Parsed;
  readonly budget?: Parsed;
  readonly ask: boolean;
  readonly yes?: boolean;
  readonly open?: boolean;
  readonly trustChecks?: boolean;
  readonly trace?: string;
  readonly json?: boolean;
}

/** The parser of an option that `/auto-dev run` has too. */
const asInCommands = (name: RunOption) => (text: string) => {
  const found = parseRunOption(name, text);
  if (typeof found === 'string') throw new InvalidArgumentError(found.replaceAll('`', ''));
  return found;
};

/** Names that other tools of the field use for the same. */
const synonym = (flags: string, of: string) =>
  new Option(flags, `the same as ${of}`).hideHelp().conflicts(of.slice(2));

export function addRun(program: Command, shell: Shell, done: (code: number) => void): void {
  const run = program
    .command('run')
    .alias('compete')
    .description('run competing coders on a local repository')
    .argument('[prompt]', 'the task')
    .option('--file <file>', 'read the task from a file instead')
    .option('-r, --repo <folder>', 'the repository', '.')
    .option('--base <ref>', 'branch, tag or commit to start from (default: the checked-out commit)')
    .addOption(
      new Option(
        '--include-changes',
        'start from the working tree as it is, with uncommitted changes and new files; nothing of it is changed',
      ).conflicts(['base', 'baseBranch']),
    );
  addContestantOptions(run);
  addDecisionOptions(run);
  run
    .option('--no-ask', 'never ask: continue with the default assumptions (implied without a terminal)')
    .option(
      '--trust-checks',
      "for this run, agree to the repository's set-up, build and test commands even if the sandbox is weaker or they have network access",
    )
    .addOption(
      new Option('--open', "show the run's page in a browser, until you press Ctrl-C").conflicts('json'),
    )
    .option('-y, --yes', 'the same as --no-ask --trust-checks')
    .option('--trace <file>', "write how long each part took, in the format of Chrome's traces")
    .addOption(jsonOption())
    .addOption(synonym('--agents <names>', '--coders').argParser(asInCommands('coders')))
    .addOption(synonym('--prompt-file <file>', '--file'))
    .addOption(synonym('--base-branch <ref>', '--base'))
    .action(async (prompt: string | undefined, flags: RunFlags, command: Command) => {
      const file = flags.file ?? flags.promptFile;
      const base = flags.base ?? flags.baseBranch;
      if (prompt !== undefined && file !== undefined)
        command.error('error: give the task either as an argument or with --file, not both');
      const options = {
        repo: flags.repo,
        json: flags.json ?? false,
        open: flags.open ?? false,
        includeChanges: flags.includeChanges ?? false,
        trustChecks: flags.trustChecks ?? flags.yes ?? false,
        overrides: overridesOf(flags, shell.screen),
        ...(file ? { file } : {}),
        ...(flags.trace ? { trace: flags.trace } : {}),
      };
      done(await runHere(shell, prompt, base ? { ...options, base } : options));
    });
  program
    .command('resume')
    .description('continue a run that was stopped or whose process ended; finished work is not repeated')
    .argument('<run>', 'id of the run')
    .addOption(jsonOption())
    .action(async (id: string, o: { json?: boolean }) => done(await resume(shell, id, o.json ?? false)));
}

const addContestantOptions = (run: Command): Command =>
  run
    .option('-n, --candidates <count>', 'number of competing coders', asInCommands('candidates'))
    .option(
      '--coders <names>',
      'agents, comma-separated, assigned in turn; "auto": chosen from earlier runs',
      asInCommands('coders'),
    )
    .option(
      '--models <names>',
      'models as provider/model, or the model alone where one provider offers it; comma-separated, assigned in turn',
      asInCommands('models'),
    )
    .option(
      '--prompts <names>',
      'prompt variants: plain, careful, test-first, root-cause or your own; comma-separated, assigned in turn',
      asInCommands('prompts'),
    )
    .option(
      '-t, --timeout <time>',
      'time limit for each coder, e.g. 30m; a bare number is minutes',
      asInCommands('timeout'),
    )
    .option('--budget <dollars>', 'budget for the whole run in US dollars', asInCommands('budget'));

const addDecisionOptions = (run: Command): Command =>
  run
    .option(
      '--evaluator <names>',
      `strategies that decide, comma-separated, in this order: ${EVALUATORS.join(', ')}`,
      asInCommands('evaluator'),
    )
    .option('--debate <when>', 'critics debate the brief: always, never or auto', asInCommands('debate'))
    .option(
      '--review <when>',
      "critics look for defects in the winner's diff: always, never or auto",
      asInCommands('review'),
    )
    .option('--synthesis', 'merge two candidates where each fixes what the other misses')
    .option('--setup <command>', 'set-up command instead of the detected one; "": none')
    .option('--build <command>', 'build command instead of the detected one; "": none')
    .option('--test <command>', 'test command instead of the detected one; "": none');

function overridesOf(flags: RunFlags, { width }: Screen): Overrides {
  const { agents, models, candidates, prompts, evaluator, debate, review, timeoutSeconds, budgetUsd } = {
    ...flags.candidates,
    ...flags.coders,
    ...flags.agents,
    ...flags.models,
    ...flags.prompts,
    ...flags.evaluator,
    ...flags.debate,
    ...flags.review,
    ...flags.timeout,
    ...flags.budget,
  };
  const coders = codersOf(agents, models);
  const { setup, build, test } = flags;
  const checks = {
    ...(setup === undefined ? {} : { setup }),
    ...(build === undefined ? {} : { build }),
    ...(test === undefined ? {} : { test }),
  };
  return {
    ...(candidates ? { candidates } : {}),
    ...(coders.length > 0 ? { coders: [...coders] } : {}),
    ...(prompts ? { prompts: [...prompts] } : {}),
    ...(evaluator ? { evaluator: [...evaluator] } : {}),
    ...(debate ? { debate } : {}),
    ...(review ? { review } : {}),
    ...(flags.synthesis ? { synthesis: true } : {}),
    ...(Object.keys(checks).length > 0 ? { checks } : {}),
    ...(timeoutSeconds ? { timeoutSeconds } : {}),
    ...(budgetUsd ? { budgetUsd } : {}),
    // In a pipe or a job, no one would see that the run waits.
    ...(flags.ask && !flags.yes && width !== null && !flags.json ? {} : { ask: false }),
  };
}
