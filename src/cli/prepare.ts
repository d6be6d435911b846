import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { baseFacts, silenceOf } from '../core/evidence/index.ts';
import { Fault, SETTINGS_FILE } from '../core/model/index.ts';
import {
  BASE_STEP_LABELS,
  type BaseStep,
  counted,
  elapsed,
  excludedTestsNote,
  silenceNote,
  toolsText,
} from '../core/reports/index.ts';
import { type Prepared, type PrepareTools, prepareRepository, type Survey } from '../runs/index.ts';
import { EXIT, type Shell } from '../shell.ts';
import { jsonOption } from './options.ts';
import { jsonText, shown, terminalText } from './render/index.ts';

interface PrepareFlags {
  readonly repo: string;
  readonly write?: boolean;
  readonly trustChecks?: boolean;
  readonly json?: boolean;
}

/** `runoff prepare`: sets up, builds and tests the base commit as a run would, without a model. */
export function addPrepare(program: Command, shell: Shell, done: (code: number) => void): void {
  program
    .command('prepare')
    .description(
      'set up, build and test a local repository in the sandbox, as a run does before it pays for coders',
    )
    .option('--repo <folder>', 'the repository', '.')
    .option('--write', `write the commands to ${SETTINGS_FILE}, if there is none`)
    .option(
      '--trust-checks',
      'agree to run the commands even if the sandbox is weaker or they have network access',
    )
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExit codes: 0 tests pass on the base commit · 1 set-up or build failed · 3 tests say nothing',
    )
    .action(async (flags: PrepareFlags) => done(await prepare(shell, flags)));
}

async function prepare(shell: Shell, flags: PrepareFlags): Promise<number> {
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
        onSurvey: ({ tools, missing }) => screen.err(surveyLines(tools, missing)),
        onStep: (step) => screen.err(`${stepText(step)} …\n`),
        signal: stop.signal,
      },
    );
    const written = flags.write ? await writeSettings(shell, tools, top, prepared) : null;
    screen.out(flags.json ? `${jsonText(jsonOf(prepared, written))}\n` : textOf(prepared, written));
    return silenceOf(prepared.tests) === null ? EXIT.done : EXIT.nothingSurvived;
  } catch (thrown) {
    if (stop.signal.aborted) return EXIT.cancelled;
    throw thrown;
  } finally {
    release();
  }
}

/** What is missing first, then what the commands find. */
const surveyLines = (tools: Survey['tools'], missing: readonly string[]): string =>
  [
    ...missing.map((one) => terminalText(one)),
    ...(tools.length > 0 ? [`Tools: ${shown(toolsText(tools), 400)}`] : []),
  ]
    .map((line) => `${line}\n`)
    .join('');

function stepText(step: BaseStep): string {
  const label = BASE_STEP_LABELS[step.name];
  const sentence = `${label.slice(0, 1).toUpperCase()}${label.slice(1)}`;
  return step.name === 'checkout' ? sentence : `${sentence}: ${shown(step.command, 200)}`;
}

const jsonOf = ({ tests, ...prepared }: Prepared, written: string | null) => ({
  ...prepared,
  ms: { setup: Math.round(prepared.ms.setup), checks: Math.round(prepared.ms.checks) },
  tests: {
    source: tests.source,
    exitCode: tests.exitCode,
    ms: tests.ms,
    ...countsOf(tests),
    flaky: tests.flaky ?? [],
  },
  written,
});

function countsOf({ tests }: Prepared['tests']) {
  const outcomes = Object.values(tests);
  const count = (wanted: string) => outcomes.filter((outcome) => outcome === wanted).length;
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
}

function textOf(prepared: Prepared, written: string | null): string {
  const { commit, commands, from, missing, ms, services, tools } = prepared;
  const row = (title: string, name: keyof Prepared['commands']) => {
    const command = commands[name];
    const file = from[name] ?? '';
    const origin = file === SETTINGS_FILE ? '  (settings)' : `  (detected from ${shown(file, 100)})`;
    return `${title.padEnd(8)} ${command === undefined ? 'none' : `${shown(command, 300)}${origin}`}`;
  };
  return [
    ...missing.map((one) => `${terminalText(one)}\n`),
    `Base     ${shown(commit.ref)} at ${commit.sha.slice(0, 7)}`,
    `Tools    ${tools.length === 0 ? 'none asked for' : shown(toolsText(tools), 400)}`,
    row('Set-up', 'setup'),
    row('Build', 'build'),
    row('Tests', 'test'),
    '',
    `Set-up took ${elapsed(ms.setup)}, build and tests ${elapsed(ms.checks)}.`,
    testsText(prepared),
    ...(services.length === 0 ? [] : [servicesText(services)]),
    ...(written === null ? [] : [`Wrote ${shown(written)}. Commit it to keep these commands.`]),
    '',
  ].join('\n');
}

const servicesText = (services: readonly string[]): string =>
  `Its CI starts ${shown(services.join(', '), 200)} beside the tests. The sandbox has none of them, so tests that need one fail.`;

function testsText({ commands, tests }: Prepared): string {
  const view = { checks: { ...commands, base: baseFacts(tests) } };
  const silent = silenceNote(view);
  if (silent !== null) return terminalText(silent);
  if (tests.source === 'exit-code')
    return 'The tests pass. Runoff reads no report of their runner, so only the exit code counts.';
  const { passed, failed, skipped } = countsOf(tests);
  const excluded = excludedTestsNote(view);
  return [
    `${counted(passed, 'test')} passed, ${failed} failed, ${skipped} skipped, ${tests.flaky?.length ?? 0} flaky.`,
    ...(excluded === null ? [] : [terminalText(excluded)]),
    ...(tests.notes ?? []).map((one) => shown(one, 400)),
  ].join('\n');
}

/** Fault: SETTINGS_INVALID where the base commit or the folder has the file already, or a link in its place. */
async function writeSettings(
  shell: Shell,
  { workspaces }: Pick<PrepareTools, 'workspaces'>,
  top: string,
  { commands, commit }: Prepared,
): Promise<string> {
  const file = join(top, SETTINGS_FILE);
  const committed = await workspaces.listFiles({ kind: 'local', path: top }, commit.sha);
  // What is a file or a link in the commit is the repository's word, even where the work tree lacks it.
  const inTheWay = [SETTINGS_FILE, dirname(SETTINGS_FILE)].find((path) => committed.includes(path));
  const lines = Object.entries(commands).map(([name, command]) => `  ${name}: ${JSON.stringify(command)}\n`);
  const why =
    inTheWay === undefined
      ? await shell.createBelow(top, SETTINGS_FILE, `checks:\n${lines.join('')}`)
      : `${shown(commit.ref)} has ${inTheWay} already`;
  if (why !== null) throw new Fault('SETTINGS_INVALID', `${file} was not written: ${why}.`);
  return file;
}
