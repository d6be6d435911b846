import { Command, CommanderError, Option } from 'commander';
import { asFault, Fault, type FaultCode } from '../core/model/index.ts';
import { SIGNALS } from '../core/ranking/index.ts';
import { visibleCode } from '../core/reports/index.ts';
import { EXIT, type Screen, type Shell } from '../shell.ts';
import { examineMachine, installAgents, listAgents, listModels } from './agents.ts';
import { addArena } from './arena.ts';
import { addDecide } from './arena-decide.ts';
import { addMine } from './arena-mine.ts';
import { addReport } from './arena-report.ts';
import { addVote } from './arena-vote.ts';
import { addCompletion } from './completion.ts';
import { addDebate } from './debate.ts';
import { addAnswers } from './decide.ts';
import { addForget } from './forget.ts';
import { addExamples, EXIT_CODES, optionDescription } from './help.ts';
import { addAudit, cancelHere, listRuns, showStatus } from './inspect.ts';
import { addLeaderboard } from './leaderboard.ts';
import { addMove, addPrune, listWorkers } from './maintenance.ts';
import { jsonOption, parseDollars, signals, whole } from './options.ts';
import { addPick } from './pick.ts';
import { addPrepare } from './prepare.ts';
import { jsonText } from './render/index.ts';
import { addRun } from './run-command.ts';
import { type SelectFlags, selectLines } from './select.ts';
import { addShow } from './show.ts';
import { addToken } from './token.ts';
import { showVersion } from './version.ts';

export { commandLineSchema } from './documents.ts';
export { exitHandler } from './exit-handler.ts';
export { follow } from './follow.ts';

export { jsonText, openTerminalFilter, runJson, terminalText } from './render/index.ts';
export { exitCode } from './run.ts';
export { endUnwritten, openScreen } from './screen.ts';
export { printReport } from './show.ts';

/** Runs the command line and returns the exit code. Never rejects: a fault is printed on standard error. */
export async function runCli(shell: Shell, argv: readonly string[]): Promise<number> {
  let code: number = EXIT.done;
  const program = buildProgram(shell, (result) => {
    code = result;
  });
  try {
    program.on('option:version', () => {
      throw new VersionRequest();
    });
    await program.parseAsync([...argv], { from: 'user' });
    return code;
  } catch (thrown) {
    if (thrown instanceof VersionRequest) {
      await showVersion(shell);
      return EXIT.done;
    }
    const json = argv.includes('--json');
    if (!(thrown instanceof CommanderError)) return reportFault(shell.screen, asFault(thrown), json);
    if (thrown.exitCode === 0) return EXIT.done;
    // The parser has told people already.
    const why = thrown.message.replace(/^error: /, '');
    if (json) shell.screen.out(faultJson(new Fault('COMMAND_LINE_INVALID', why)));
    return EXIT.usage;
  }
}

/** Leaves the parser, which must not look for a command: none stands beside `--version`. */
class VersionRequest extends Error {}

/** Faults caused by what the user typed, also by names of what is not there. */
const USAGE_FAULTS: ReadonlySet<FaultCode> = new Set([
  'NOT_A_REPOSITORY',
  'BASE_MISSING',
  'RUN_UNKNOWN',
  'CANDIDATE_UNKNOWN',
  'OUTPUT_UNWRITABLE',
  'REPOSITORY_UNKNOWN',
  'COMMAND_LINE_INVALID',
  'SPEC_MISSING',
  'CONTEST_UNKNOWN',
  'PROMPT_EMPTY',
  'AGENT_UNKNOWN',
  'REPLY_UNFIT',
  'TOKEN_REFUSED',
]);

const faultJson = ({ code, message, advice }: Fault): string =>
  `${jsonText({ error: { code, message, advice } })}\n`;

/** A fault may quote a repository, an agent or a server, so escape sequences in it must not reach the terminal. */
function reportFault(screen: Screen, fault: Fault, json: boolean): number {
  const { code, message, advice } = fault;
  if (json) screen.out(faultJson(fault));
  const stack = code === 'INTERNAL' ? `${fault.stack ?? ''}\n` : '';
  screen.err(visibleCode(`\n${message}\n→ ${advice}\n${stack}`));
  return USAGE_FAULTS.has(code) ? EXIT.usage : EXIT.failed;
}

function buildProgram(shell: Shell, done: (code: number) => void): Command {
  const program = new Command('runoff')
    .description('Several coding agents write competing patches; executed tests decide which one wins.')
    .option('-V, --version', 'print version, commit and installed agents')
    .option('--env-file <file>', 'read operator settings only from this file')
    .hook('preAction', (command) => {
      const { envFile } = command.opts<{ envFile?: string }>();
      if (envFile !== undefined) shell.useEnvFile(envFile);
    })
    .configureOutput({
      writeOut: (text) => shell.screen.out(text),
      writeErr: (text) => shell.screen.err(text),
    })
    .configureHelp({ optionDescription })
    .showHelpAfterError('(use --help for usage)')
    .addHelpText('after', EXIT_CODES);
  program.commandsGroup('Run:');
  addRun(program, shell, done);
  addCancel(program, shell, done);
  addPrepare(program, shell, done);
  addDebate(program, shell, done);
  addDemo(program, shell, done);
  program.commandsGroup('Look:');
  addLists(program, shell, done);
  addShow(program, shell, done);
  addLeaderboard(program, shell, done);
  addUi(program, shell, done);
  addAudit(program, shell, done);
  program.commandsGroup('Decide:');
  addAnswers(program, shell, done);
  addPick(program, shell, done);
  addSelect(program, shell, done);
  program.commandsGroup('Arena:');
  addContests(program, shell, done);
  program.commandsGroup('Operate:');
  addAgents(program, shell, done);
  addServers(program, shell, done);
  addToken(program, shell, done);
  addForget(program, shell, done);
  addMove(program, shell, done);
  addPrune(program, shell, done);
  addCompletion(program, shell, done);
  program.helpCommand(true);
  addExamples(program);
  exitOverrides(program);
  return program;
}

function addDemo(program: Command, shell: Shell, done: (code: number) => void): void {
  program
    .command('demo')
    .description('run the complete workflow on this machine, offline, with scripted models')
    .option('--keep', 'keep the servers running until you press Ctrl-C', false)
    .addOption(jsonOption())
    .action(async (o: { keep: boolean; json?: boolean }) =>
      done(await shell.demo({ keep: o.keep, json: o.json ?? false })),
    );
}

function addUi(program: Command, shell: Shell, done: (code: number) => void): void {
  program
    .command('ui')
    .description('show the runs on this machine in a browser, until you press Ctrl-C')
    .argument('[run]', 'the run whose page is opened first')
    .option('--open', "open the desktop's browser", false)
    .action(async (run: string | undefined, { open }: { open: boolean }) =>
      done(await shell.ui({ run: run ?? null, open })),
    );
}

function addServers(program: Command, shell: Shell, done: (code: number) => void): void {
  program
    .command('serve')
    .description('start the GitHub App server: receives webhooks and executes runs')
    .action(async () => done(await shell.serve()));
  program
    .command('worker')
    .description('start a worker for the App on another machine with the same DATABASE_URL')
    .action(async () => done(await shell.work()));
  program
    .command('workers')
    .description('list the processes that share this database, with the age of each heartbeat')
    .addOption(jsonOption())
    .action(async (o: { json?: boolean }) => done(await listWorkers(shell, o.json ?? false)));
}

function addContests(program: Command, shell: Shell, done: (code: number) => void): void {
  const arena = addArena(program, shell, done);
  addVote(arena, shell, done);
  addMine(arena, shell, done);
  addDecide(arena, shell, done);
  addReport(arena, shell, done);
}

/** Turns usage errors into exceptions, so that only this module decides about the exit code. */
function exitOverrides(command: Command): void {
  command.exitOverride();
  for (const child of command.commands) exitOverrides(child);
}

function addLists(program: Command, shell: Shell, done: (code: number) => void): void {
  program
    .command('runs')
    .description('list the latest runs')
    .option('--limit <count>', 'number of runs', whole(1), 20)
    .addOption(jsonOption())
    .action(async (o: { limit: number; json?: boolean }) =>
      done(await listRuns(shell, o.limit, o.json ?? false)),
    );
  program
    .command('status')
    .alias('compete-status')
    .description('show the status of a run (default: the latest)')
    .argument('[run]', 'id of the run')
    .addOption(jsonOption())
    .action(async (run: string | undefined, o: { json?: boolean }) =>
      done(await showStatus(shell, run, o.json ?? false)),
    );
}

function addCancel(program: Command, shell: Shell, done: (code: number) => void): void {
  program
    .command('cancel')
    .alias('compete-cancel')
    .description('cancel a run; finished work is kept')
    .argument('<run>', 'id of the run')
    .addOption(jsonOption())
    .action(async (run: string, o: { json?: boolean }) =>
      done(await cancelHere(shell, run, o.json ?? false)),
    );
}

function addSelect(program: Command, shell: Shell, done: (code: number) => void): void {
  program
    .command('select')
    .description('choose among given patches: JSON lines in, JSON lines out (see docs/selection.md)')
    .option('--always-pick', 'always name the best candidate, even with little evidence', false)
    .option(
      '--judges',
      'let blind judges (models whose keys are set) compare candidates that execution leaves tied',
    )
    .option('--writers', 'let models write tests from the issue if execution leaves doubt')
    .option('--budget <usd>', 'budget for the models of one request in US dollars (default: 1)', parseDollars)
    .option(
      '--jobs <count>',
      'requests to process at a time (default: number of cores plus one)',
      whole(1, 1_000),
    )
    .option('--explain', 'add all evidence and scores of what was executed to each answer', false)
    .addOption(
      new Option(
        '--without <signals>',
        `signals to ignore, comma-separated: ${SIGNALS.join(', ')}`,
      ).argParser(signals),
    )
    .action(async (o: SelectFlags) => done(await selectLines(shell, o)));
}

function addAgents(program: Command, shell: Shell, done: (code: number) => void): void {
  program
    .command('doctor')
    .description('check this machine and say how to fix each problem')
    .option('--repo <folder>', 'also look at the commands and tools of a local repository')
    .addOption(jsonOption())
    .action(async (o: { json?: boolean; repo?: string }) => done(await examineMachine(shell, o)));
  const agents = program.command('agents').description('list the available coders and what is installed');
  agents
    .command('list', { isDefault: true })
    .description('list every coder that settings can name')
    .addOption(jsonOption())
    .action(async (o: { json?: boolean }) => done(await listAgents(shell, o.json ?? false)));
  agents
    .command('install')
    .description('install agents from npm, without running their install scripts')
    .argument(
      '<names...>',
      'such as claude-code or codex@0.169.0 (default: the version Runoff was tested with)',
    )
    .addOption(jsonOption())
    .action(async (names: readonly string[], o: { json?: boolean }) =>
      done(await installAgents(shell, names, o.json ?? false)),
    );
  program
    .command('models')
    .description('list the models and prices of every provider whose key is set')
    .addOption(jsonOption())
    .action(async (o: { json?: boolean }) => done(await listModels(shell, o.json ?? false)));
}
