import { Command, CommanderError, Option } from 'commander';
import { codersOf } from '../core/commands/index.ts';
import { asFault, type Fault, type FaultCode } from '../core/model/index.ts';
import { visibleCode } from '../core/reports/index.ts';
import type { Overrides } from '../runs/index.ts';
import { installAgents, listAgents } from './agents.ts';
import { addAnswers } from './answer.ts';
import { addAudit } from './audit.ts';
import { addDebate } from './debate.ts';
import { examineMachine } from './doctor.ts';
import { cancelHere, listRuns, showRun, showStatus } from './inspect.ts';
import { listModels } from './models.ts';
import { addMove } from './move.ts';
import { dollars, jsonOption, names, seconds, signals, whole } from './options.ts';
import { addPick } from './pick.ts';
import { addPrune } from './prune.ts';
import { jsonText } from './render/index.ts';
import { resume, runHere } from './run.ts';
import { EXIT, type Screen, type Shell } from './runtime.ts';
import { type SelectFlags, selectLines } from './select.ts';
import { listWorkers } from './workers.ts';

export { follow } from './follow.ts';
export { printReport } from './print.ts';
export { jsonText, runJson, terminalText } from './render/index.ts';
export { exitCode, onPresses } from './run.ts';
export type {
  AgentRow,
  Agents,
  DemoOptions,
  Finding,
  InstallWish,
  Needs,
  PrunedByHand,
  Runtime,
  Screen,
  Selecting,
  SelectingHow,
  Shell,
  Surroundings,
  TerminalRuntime,
  TrustedChecks,
} from './runtime.ts';
export { EXIT } from './runtime.ts';

/** Runs the command line and returns the exit code. Never rejects: a fault is said on standard error. */
export async function runCli(shell: Shell, argv: readonly string[]): Promise<number> {
  let code: number = EXIT.done;
  const program = build(shell, (result) => {
    code = result;
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return code;
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? EXIT.done : EXIT.usage;
    return told(shell.screen, asFault(thrown), argv.includes('--json'));
  }
}

/** Faults of what was typed. */
const USAGE: ReadonlySet<FaultCode> = new Set([
  'SPEC_MISSING',
  'PROMPT_EMPTY',
  'AGENT_UNKNOWN',
  'REPLY_UNFIT',
]);

/** A fault may quote what a repository, an agent or a server said: a terminal must not obey it. */
function told(screen: Screen, fault: Fault, json: boolean): number {
  const { code, message, advice } = fault;
  if (json) screen.out(`${jsonText({ error: { code, message, advice } })}\n`);
  const stack = code === 'INTERNAL' ? `${fault.stack ?? ''}\n` : '';
  screen.err(visibleCode(`\n${message}\n→ ${advice}\n${stack}`));
  return USAGE.has(code) ? EXIT.usage : EXIT.failed;
}

function build(shell: Shell, done: (code: number) => void): Command {
  const program = new Command('runoff')
    .description('Several coding agents write competing patches; the one that survives the evidence wins.')
    .version(shell.version)
    .option('--env-file <file>', 'read operator settings from this file and no other')
    .hook('preAction', (command) => {
      const { envFile } = command.opts<{ envFile?: string }>();
      if (envFile !== undefined) shell.useEnvFile(envFile);
    })
    .configureOutput({
      writeOut: (text) => shell.screen.out(text),
      writeErr: (text) => shell.screen.err(text),
    })
    .showHelpAfterError('(add --help for what is possible)')
    .addHelpText(
      'after',
      '\nExit codes: 0 done · 1 failed · 2 bad usage · 3 nothing survived · 130 cancelled',
    );
  addWork(program, shell, done);
  addInspection(program, shell, done);
  addAudit(program, shell, done);
  addAnswers(program, shell, done);
  addPick(program, shell, done);
  addAgents(program, shell, done);
  addSelect(program, shell, done);
  addDebate(program, shell, done);
  program
    .command('serve')
    .description('the GitHub App: takes webhooks and runs what they ask for')
    .action(async () => done(await shell.serve()));
  program
    .command('worker')
    .description('another machine for the App: takes candidates and their checks from the same DATABASE_URL')
    .action(async () => done(await shell.work()));
  program
    .command('demo')
    .description('the whole main job on this machine, offline, with scripted models')
    .option('--keep', 'leave the servers running for a look; Ctrl-C ends them', false)
    .addOption(jsonOption())
    .action(async (o: { keep: boolean; json?: boolean }) =>
      done(await shell.demo({ keep: o.keep, json: o.json ?? false })),
    );
  program
    .command('doctor')
    .description('checks this machine and says for each fault what to do')
    .addOption(jsonOption())
    .action(async (o: { json?: boolean }) => done(await examineMachine(shell, o.json ?? false)));
  addMove(program, shell, done);
  addPrune(program, shell, done);
  exitOverrides(program);
  return program;
}

/** Usage errors come back as exceptions, so that this module alone decides about the exit code. */
function exitOverrides(command: Command): void {
  command.exitOverride();
  for (const child of command.commands) exitOverrides(child);
}

interface RunFlags {
  readonly file?: string;
  readonly repo: string;
  readonly base?: string;
  readonly candidates?: number;
  readonly coders?: readonly string[];
  readonly models?: readonly string[];
  readonly timeout?: number;
  readonly budget?: number;
  readonly ask: boolean;
  readonly trustChecks?: boolean;
  readonly json?: boolean;
}

function addWork(program: Command, shell: Shell, done: (code: number) => void): void {
  program
    .command('run')
    .description('lets several coders compete on a repository of this disk')
    .argument('[prompt]', 'what is to be done')
    .option('--file <file>', 'read the task from a file instead')
    .option('--repo <folder>', 'the repository', '.')
    .option('--base <ref>', 'branch, tag or commit to start from (default: what is checked out)')
    .option('-n, --candidates <count>', 'how many coders compete', whole(1))
    .option('--coders <names>', 'agents, separated by commas; taken in turn', names)
    .option('--models <names>', 'models as provider/model, separated by commas; taken in turn', names)
    .option('--timeout <time>', 'wall time of one coder, e.g. 30m', seconds)
    .option('--budget <dollars>', 'US dollars for the whole run', dollars)
    .option(
      '--no-ask',
      'ask nothing: go on with what questions assume (also where nobody watches a terminal)',
    )
    .option(
      '--trust-checks',
      "agree to the repository's set-up, build and test commands without being asked, for this run: where the sandbox is weaker than the full one, or they may reach hosts",
    )
    .addOption(jsonOption())
    .action(async (prompt: string | undefined, flags: RunFlags, command: Command) => {
      const { file, repo, base, json } = flags;
      if (prompt !== undefined && file !== undefined)
        command.error('error: give the task in words or with --file, not both');
      const options = {
        repo,
        json: json ?? false,
        trustChecks: flags.trustChecks ?? false,
        overrides: overridesOf(flags, shell.screen),
        ...(file ? { file } : {}),
      };
      done(await runHere(shell, prompt, base ? { ...options, base } : options));
    });
  program
    .command('resume')
    .description('goes on with a run whose process ended; nothing that was paid for is done twice')
    .argument('<run>', 'id of the run')
    .addOption(jsonOption())
    .action(async (run: string, o: { json?: boolean }) => done(await resume(shell, run, o.json ?? false)));
}

function overridesOf(flags: RunFlags, { width }: Screen): Overrides {
  const coders = codersOf(flags.coders, flags.models);
  return {
    ...(flags.candidates ? { candidates: flags.candidates } : {}),
    ...(coders.length > 0 ? { coders: [...coders] } : {}),
    ...(flags.timeout ? { timeoutSeconds: flags.timeout } : {}),
    ...(flags.budget ? { budgetUsd: flags.budget } : {}),
    // In a pipe or a job nobody would see that the run waits.
    ...(flags.ask && width !== null && !flags.json ? {} : { ask: false }),
  };
}

function addInspection(program: Command, shell: Shell, done: (code: number) => void): void {
  program
    .command('runs')
    .description('the newest runs')
    .option('--limit <count>', 'how many', whole(1), 20)
    .addOption(jsonOption())
    .action(async (o: { limit: number; json?: boolean }) =>
      done(await listRuns(shell, o.limit, o.json ?? false)),
    );
  program
    .command('status')
    .description('where a run stands (default: the newest)')
    .argument('[run]', 'id of the run')
    .addOption(jsonOption())
    .action(async (run: string | undefined, o: { json?: boolean }) =>
      done(await showStatus(shell, run, o.json ?? false)),
    );
  program
    .command('workers')
    .description('the processes that share the work, and when each gave its last sign of life')
    .addOption(jsonOption())
    .action(async (o: { json?: boolean }) => done(await listWorkers(shell, o.json ?? false)));
  program
    .command('show')
    .description('the comparison of a run, or the diff of one candidate')
    .argument('<run>', 'id of the run')
    .argument('[candidate]', 'letter of the candidate')
    .addOption(jsonOption())
    .action(async (run: string, alias: string | undefined, o: { json?: boolean }) =>
      done(await showRun(shell, run, alias, o.json ?? false)),
    );
  program
    .command('cancel')
    .description('stops a run; what exists is kept')
    .argument('<run>', 'id of the run')
    .addOption(jsonOption())
    .action(async (run: string, o: { json?: boolean }) =>
      done(await cancelHere(shell, run, o.json ?? false)),
    );
}

function addSelect(program: Command, shell: Shell, done: (code: number) => void): void {
  program
    .command('select')
    .description(
      'chooses among given patches: JSON lines in, JSON lines out; docs/selection.md describes both',
    )
    .option('--always-pick', 'name the best candidate even where the evidence is too thin', false)
    .option(
      '--judges',
      'blind judges (models whose keys are set) compare executed candidates that execution does not tell apart',
    )
    .option('--budget <usd>', 'dollars for the judges of one request (default: 1)', dollars)
    .option('--jobs <count>', 'requests at a time (default: one more than there are cores)', whole(1))
    .addOption(
      new Option('--without <signals>', 'signals that shall not count, separated by commas').argParser(
        signals,
      ),
    )
    .action(async (o: SelectFlags) => done(await selectLines(shell, o)));
}

function addAgents(program: Command, shell: Shell, done: (code: number) => void): void {
  const agents = program.command('agents').description('the coders that can compete, and what is installed');
  agents
    .command('list', { isDefault: true })
    .description('every coder that settings can name')
    .addOption(jsonOption())
    .action(async (o: { json?: boolean }) => done(await listAgents(shell, o.json ?? false)));
  agents
    .command('install')
    .description('puts agents from npm into the folder of agents; none of their install scripts is run')
    .argument(
      '<names...>',
      'such as claude-code or codex@0.169.0; without a version the one Runoff was tried with',
    )
    .addOption(jsonOption())
    .action(async (names: readonly string[], o: { json?: boolean }) =>
      done(await installAgents(shell, names, o.json ?? false)),
    );
  const arena = program.command('arena').description('contests of agents, models and prompts');
  arena
    .command('models')
    .description('the models that the providers offer whose keys are set, with their prices')
    .addOption(jsonOption())
    .action(async (o: { json?: boolean }) => done(await listModels(shell, o.json ?? false)));
}
