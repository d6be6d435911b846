import { baseFacts, leftOutTypeCheck } from '../../core/evidence/index.ts';
import { SETTINGS_FILE } from '../../core/model/index.ts';
import {
  type ActivityStep,
  counted,
  elapsed,
  excludedTestsNote,
  failureLines,
  howEnded,
  lentNote,
  quotedCode,
  STEP_LABELS,
  silenceNote,
  toolsText,
} from '../../core/reports/index.ts';
import {
  type CommandName,
  type FailedTry,
  type Recipe,
  SUGGESTED,
  shownSetup,
} from '../../core/settings/index.ts';
import type { Prepared, Survey } from '../../runs/index.ts';
import { printable as shown, terminalText } from './terminal.ts';

/** The tools; missing ones are named first in the result, or in the failure that they lead to. */
export const surveyText = ({ tools }: Survey): string =>
  tools.length > 0 ? `Tools: ${shown(toolsText(tools), 400)}\n` : '';

/** What is being executed, with its command: `installing packages: npm ci`. */
export const stepText = (step: ActivityStep): string =>
  `${STEP_LABELS[step.name]}${'command' in step ? `: ${shown(step.command, 200)}` : ''}`;

const FAILED_STEPS = {
  'set-up': 'Set-up failed',
  build: 'The build failed',
  tests: 'The tests say nothing',
} as const satisfies Record<FailedTry['step'], string>;

/** Why other commands are tried, and which. */
export function nextTryText({ step, output, stopped, recipe: before }: FailedTry, next: Recipe): string {
  const lines = failureLines(output, 2);
  // npm prints an error code first and then its meaning.
  const line = lines.find((one) => !/^npm (?:ERR!|error) code /.test(one)) ?? lines[0];
  const limit = stopped ? howEnded({ exitCode: null, stopped }) : undefined;
  const why = [limit, line].filter((one) => one !== undefined).join(': ');
  const changes = (['setup', 'build', 'test'] as const).flatMap((name) => {
    const command = next.commands[name];
    if (command === before.commands[name]) return [];
    return command === undefined
      ? [`no ${COMMAND_LABELS[name]}`]
      : [`${COMMAND_LABELS[name]} ${quotedCode(shownSetup(command))}`];
  });
  return shown(`${FAILED_STEPS[step]}${why === '' ? '' : ` (${why})`}. Trying ${changes.join(', ')}.`, 600);
}

const COMMAND_LABELS = { setup: 'set-up', build: 'build', test: 'tests' } as const satisfies Record<
  CommandName,
  string
>;

/**
 * `settings`: the settings file that keeps what was found; null where it says all already. `written`: where it was
 * written.
 */
export function preparedText(prepared: Prepared, settings: string | null, written: string | null): string {
  const { commit, how, missing, ms, tools } = prepared;
  return [
    ...missing.map((one) => `${terminalText(one)}\n`),
    `Base     ${shown(commit.ref)} at ${commit.sha.slice(0, 7)}`,
    `Tools    ${tools.length === 0 ? 'none required by the repository' : shown(toolsText(tools), 400)}`,
    commandRow(prepared, 'Set-up', 'setup'),
    commandRow(prepared, 'Build', 'build'),
    commandRow(prepared, 'Types', 'types'),
    commandRow(prepared, 'Tests', 'test'),
    '',
    ...(how === 'known' ? ['These commands were found before, and were used at once.'] : []),
    `Set-up took ${elapsed(ms.setup)}, build and tests ${elapsed(ms.checks)}${how === 'tried' ? `; all tries together ${elapsed(ms.tried)}` : ''}.`,
    testsText(prepared),
    ...noteLines(prepared),
    ...lentText(prepared),
    ...typeLines(prepared),
    ...(written === null
      ? settingsText(settings)
      : [`Wrote ${shown(written)}. Commit it to keep these commands.`]),
    '',
  ].join('\n');
}

function commandRow(
  { commands, from, instead }: Prepared,
  title: string,
  name: CommandName | 'types',
): string {
  const command = commands[name];
  const failed = name === 'types' ? undefined : instead?.[name];
  const replaced = failed === undefined ? '' : `${quotedCode(shown(shownSetup(failed), 200))} failed`;
  if (command === undefined) return `${title.padEnd(8)} none${replaced === '' ? '' : `  (${replaced})`}`;
  const file = from[name] ?? '';
  const origin =
    file === SETTINGS_FILE
      ? 'settings'
      : file === SUGGESTED
        ? SUGGESTED
        : `detected from ${shown(file, 100)}`;
  return `${title.padEnd(8)} ${shown(shownSetup(command), 300)}  (${[origin, ...(replaced === '' ? [] : [replaced])].join('; ')})`;
}

/** What each type check finds on the base, or why it was left out. */
const typeLines = ({ tests: { types = [] } }: Prepared): readonly string[] =>
  types.map((one) => {
    const found = one.findings.length;
    const what =
      found === 0
        ? 'nothing'
        : `${counted(found, 'type error')} on the base commit; only others count against a candidate`;
    return terminalText(leftOutTypeCheck(one) ?? `${quotedCode(one.name)} finds ${what}.`);
  });

function lentText({ packages }: Prepared): readonly string[] {
  const note = lentNote({ checks: packages ? { lent: packages } : {} });
  return note === null ? [] : [terminalText(note)];
}

const settingsText = (settings: string | null): readonly string[] =>
  settings === null
    ? []
    : [
        '',
        `${SETTINGS_FILE} that keeps these commands (\`--write\` writes it):`,
        '',
        ...settings.trimEnd().split('\n').map(settingsLine),
      ];

/** A line unchanged except for control characters, which a terminal would interpret. */
const settingsLine = (line: string): string =>
  `  ${/^ */.exec(line)?.[0] ?? ''}${shown(line.trimStart(), 1_000)}`.trimEnd();

export function testCounts({ tests }: Prepared['tests']) {
  const outcomes = Object.values(tests);
  const count = (wanted: string) => outcomes.filter((outcome) => outcome === wanted).length;
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
}

const testsView = ({ commands, tests }: Pick<Prepared, 'commands' | 'tests'>) => ({
  checks: { ...commands, base: baseFacts(tests) },
});

/** Why the tests of the base say nothing about candidates, and what to do; null where they do. */
export const testsProblem = (prepared: Pick<Prepared, 'commands' | 'tests'>): string | null =>
  silenceNote(testsView(prepared));

function testsText({ commands, tests }: Prepared): string {
  const view = testsView({ commands, tests });
  const silent = silenceNote(view);
  if (silent !== null) return terminalText(silent);
  if (tests.source === 'exit-code')
    return 'The tests pass. Runoff reads no report of their runner, so only the exit code counts.';
  const { passed, failed, skipped } = testCounts(tests);
  const excluded = excludedTestsNote(view);
  return [
    `${counted(passed, 'test')} passed, ${failed} failed, ${skipped} skipped, ${tests.flaky?.length ?? 0} flaky.`,
    ...(excluded === null ? [] : [terminalText(excluded)]),
  ].join('\n');
}

/** What else is known about the tests; type checks have lines of their own. */
function noteLines({ tests: { notes = [], types = [] } }: Prepared): readonly string[] {
  const ofTypes = new Set(types.map(leftOutTypeCheck));
  return notes.filter((one) => !ofTypes.has(one)).map((one) => shown(one, 400));
}
