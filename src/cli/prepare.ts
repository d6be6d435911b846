import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { leftOutTypeCheck, silenceOf } from '../core/evidence/index.ts';
import { asFault, Fault, SETTINGS_FILE, upperFirst } from '../core/model/index.ts';
import { settingsOfRecipe } from '../core/settings/index.ts';
import {
  openShell,
  type Prepared,
  type PreparedPlace,
  type PrepareTools,
  prepareRepository,
  type ShellTerminal,
} from '../runs/index.ts';
import { EXIT, type Shell } from '../shell.ts';
import { jsonOption } from './options.ts';
import {
  jsonText,
  nextTryText,
  preparedText,
  shown,
  stepText,
  surveyText,
  testCounts,
  testsProblem,
} from './render/index.ts';

interface PrepareFlags {
  readonly repo: string;
  readonly write?: boolean;
  readonly trustChecks?: boolean;
  readonly json?: boolean;
  readonly shell?: boolean;
}

/** `runoff prepare`: sets up, builds and tests the base commit as a run would, without a model. */
export function addPrepare(program: Command, shell: Shell, done: (code: number) => void): void {
  program
    .command('prepare')
    .description(
      'set up, build and test a local repository in the sandbox, as a run does before it pays for coders',
    )
    .option('--repo <folder>', 'the repository', '.')
    .option('--write', `write the commands to ${SETTINGS_FILE}; what stands in it stays`)
    .option(
      '--trust-checks',
      'agree to run the commands even if the sandbox is weaker or they have network access',
    )
    .option('--shell', 'then open a shell in the sandbox, with the packages and the network that tests have')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExit codes: 0 tests pass on the base commit · 1 set-up or build failed · 3 tests say nothing; with --shell, that of the shell',
    )
    .action(async (flags: PrepareFlags) => done(await prepareThen(shell, flags)));
}

/** Opens a shell after preparing if that is wanted: above all where set-up, build or tests failed. */
async function prepareThen(shell: Shell, flags: PrepareFlags): Promise<number> {
  const { screen, typing } = shell;
  if (!flags.shell) return prepare(shell, flags, () => {});
  if (typing === null || flags.json) {
    screen.err(
      flags.json
        ? 'A shell has no JSON: leave out `--json` or `--shell`.\n'
        : '`--shell` needs a terminal: standard input and output must not be redirected.\n',
    );
    return EXIT.usage;
  }
  let reached: Reached | null = null;
  try {
    const code = await prepare(shell, flags, (now) => {
      reached = now;
    });
    if (code === EXIT.stopped) return code;
  } catch (thrown) {
    const { code, message } = asFault(thrown);
    if (reached === null || (code !== 'BASE_BROKEN' && code !== 'REGISTRY_UNAVAILABLE')) throw thrown;
    screen.err(`${message}\n`);
  }
  return reached === null ? EXIT.failed : enter(shell, reached, typing());
}

/** What was prepared when something failed, or at the end. */
interface Reached {
  readonly tools: PrepareTools;
  readonly place: PreparedPlace;
}

async function enter({ screen, onInterrupt }: Shell, { tools, place }: Reached, terminal: ShellTerminal) {
  const stop = new AbortController();
  const release = onInterrupt(() => stop.abort());
  const packages = place.isSetUp ? '' : ' without installed packages';
  screen.err(`\nA shell in the sandbox${packages}. Its files are removed when it ends; \`exit\` ends it.\n`);
  try {
    const { exitCode, why } = await openShell(tools, place, terminal, stop.signal);
    if (why !== null) screen.err(`${why}\n`);
    return exitCode ?? EXIT.failed;
  } finally {
    release();
  }
}

async function prepare(
  shell: Shell,
  flags: PrepareFlags,
  onReached: (reached: Reached) => void,
): Promise<number> {
  const { screen } = shell;
  const path = resolve(shell.cwd, flags.repo);
  const stop = new AbortController();
  const release = shell.onInterrupt(() => stop.abort());
  try {
    const tools = await shell.openPreparing();
    const { top } = await tools.workspaces.describe(path);
    const prepared = await prepareRepository(
      tools,
      { kind: 'local', path: top },
      {
        trust: flags.trustChecks ?? false,
        onSurvey: (survey) => screen.err(surveyText(survey)),
        onStep: (step) => screen.err(`${upperFirst(stepText(step))} …\n`),
        onNext: (failed, next) => screen.err(`${nextTryText(failed, next)}\n`),
        onPlace: (place) => onReached({ tools, place }),
        signal: stop.signal,
      },
    );
    const before = await settingsAt(tools, top, prepared);
    const settings = settingsOfRecipe(before, settledCommands(prepared), prepared.named);
    const written =
      flags.write && settings !== null
        ? await writeSettings(shell, tools, { top, commit: prepared.commit }, { before, text: settings })
        : null;
    screen.out(
      flags.json
        ? `${jsonText(jsonOf(prepared, settings, written))}\n`
        : preparedText(prepared, settings, written),
    );
    return silenceOf(prepared.tests) === null ? EXIT.done : EXIT.nothingSurvived;
  } catch (thrown) {
    if (stop.signal.aborted) return EXIT.stopped;
    throw thrown;
  } finally {
    release();
  }
}

/** Without a type check that does not run on the base, or that the settings name already. */
function settledCommands(prepared: Prepared) {
  const { from, tests } = prepared;
  const { types = '', ...others } = commandsToKeep(prepared);
  const isKept =
    from.types !== SETTINGS_FILE &&
    tests.types?.some((one) => types.startsWith(one.name) && leftOutTypeCheck(one) === null);
  return { ...prepared, commands: isKept ? { ...others, types } : others };
}

const jsonOf = (
  { tests, named: _, ...prepared }: Prepared,
  settings: string | null,
  written: string | null,
) => ({
  ...prepared,
  ms: Object.fromEntries(Object.entries(prepared.ms).map(([name, ms]) => [name, Math.round(ms)])),
  tests: {
    source: tests.source,
    exitCode: tests.exitCode,
    ms: tests.ms,
    ...testCounts(tests),
    problem: testsProblem({ ...prepared, tests }),
    failing: Object.entries(tests.tests).flatMap(([id, outcome]) => (outcome === 'failed' ? [id] : [])),
    flaky: tests.flaky ?? [],
    notes: tests.notes ?? [],
    types: (tests.types ?? []).map(({ name, exitCode, ms, findings, ...rest }) => ({
      name,
      exitCode,
      ms: Math.round(ms),
      findings: findings.length,
      leftOut: leftOutTypeCheck({ name, exitCode, ms, findings, ...rest }),
    })),
  },
  settings,
  written,
});

/** Other machines lack the packages of this working tree: they need the set-up command that was not run here. */
const commandsToKeep = ({ commands, packages }: Prepared): Prepared['commands'] =>
  packages?.kind === 'used' && packages.instead !== undefined
    ? { setup: packages.instead, ...commands }
    : commands;

/** The settings file of the commit; null if there is none. */
const settingsAt = ({ workspaces }: Pick<PrepareTools, 'workspaces'>, top: string, { commit }: Prepared) =>
  workspaces.readFile({ kind: 'local', path: top }, commit.sha, SETTINGS_FILE);

/** Writes the settings file. Fault: SETTINGS_UNWRITTEN if another file or a link has its path. */
async function writeSettings(
  shell: Shell,
  tools: Pick<PrepareTools, 'workspaces'>,
  { top, commit }: { readonly top: string; readonly commit: Prepared['commit'] },
  { before, text }: { readonly before: string | null; readonly text: string },
): Promise<string> {
  const file = join(top, SETTINGS_FILE);
  const why =
    before === null
      ? ((await inTheWay(tools, top, commit)) ?? (await shell.createBelow(top, SETTINGS_FILE, text)))
      : await shell.replaceBelow(top, SETTINGS_FILE, { before, text });
  if (why !== null) throw new Fault('SETTINGS_UNWRITTEN', `${file} was not written: ${why}.`);
  return file;
}

/** A link in the commit counts even if the working tree lacks it. Returns a clause, or null. */
async function inTheWay(
  { workspaces }: Pick<PrepareTools, 'workspaces'>,
  top: string,
  { ref, sha }: Prepared['commit'],
): Promise<string | null> {
  const committed = await workspaces.listFiles({ kind: 'local', path: top }, sha);
  const path = [SETTINGS_FILE, dirname(SETTINGS_FILE)].find((one) => committed.includes(one));
  return path === undefined ? null : `${shown(ref)} has ${path} already`;
}
