import type { BaseFacts, Need, SetAside, Silence } from '../evidence/index.ts';
import { commandFailure, failureHint, howEnded, quoted } from './failure-output.ts';
import { counted } from './format.ts';
import type { RunView } from './view.ts';

/** After “needs” or “need”. */
const NEEDED = {
  network: 'the network',
  database: 'a database',
  browser: 'a browser',
  docker: 'Docker',
  display: 'a display',
  'time-zone': 'time zone data',
} as const satisfies Record<Need, string>;

const COMPARED =
  'Without tests, Runoff compares candidates by build, syntax, behaviour, agreement and judges, and calls no result clear.';
const OTHER_COMMAND =
  'Make the command pass there, or set `checks.test` to a runner whose report Runoff reads: then only the tests that fail are set aside.';

/**
 * Why the tests of a run say nothing about its candidates, with the command, the lines of its output that matter and what
 * would help: plain text with code in backticks. Null where they say something, or were not run yet.
 */
export function silenceNote({ checks }: Pick<RunView, 'checks'>): string | null {
  const { base, test = '' } = checks ?? {};
  if (base?.silence === undefined) return null;
  const { silence } = base;
  const reported = silence === 'none-passes' || silence === 'none-reported';
  const instead = reported ? 'As long as none passes, Runoff calls no result clear.' : COMPARED;
  return [whatHappened(base, silence, test), ...whatHelps(base, silence), instead].join(' ');
}

function whatHappened(base: BaseFacts, silence: Silence, command: string): string {
  switch (silence) {
    case 'no-command':
      return 'Nothing was tested, because Runoff found no test command in this repository: to add tests, set `checks.test` in `.github/auto-dev.yml`, for example `test: npm test`.';
    case 'none-passes':
      return `None of ${counted(base.total, 'base test')} passes on the base commit (${quoted(command)}, ${howEnded(base)})${outputOf(base)}.`;
    case 'none-reported':
      return `The test command ${quoted(command)} reports no test on the base commit (${howEnded(base)})${outputOf(base)}.`;
    case 'not-started':
    case 'stopped':
    case 'exit-code':
      return commandFailure({ step: 'tests', command, how: howEnded(base), lines: base.lines });
  }
}

const outputOf = ({ lines }: BaseFacts): string =>
  lines.length === 0 ? '' : `: ${lines.map(quoted).join(', ')}`;

function whatHelps({ need, lines }: BaseFacts, silence: Silence): readonly string[] {
  const lacks =
    need === undefined || need === 'network'
      ? []
      : [`It needs ${NEEDED[need]}, which is not in the sandbox.`];
  switch (silence) {
    case 'no-command':
      return [];
    case 'not-started':
      return [
        'Make the command start there (`checks.setup` installs packages), or set `checks.test` to another one.',
      ];
    case 'stopped':
      return [...lacks, 'Raise `timeout.check`, or set `checks.test` to a smaller part of the tests.'];
    case 'exit-code':
      return [...lacks, OTHER_COMMAND];
    case 'none-passes':
    case 'none-reported':
      return [
        ...lacks,
        ...[failureHint(lines, 'tests') ?? []].flat(),
        'Make at least one test pass there, or set `checks.test` to another command.',
      ];
  }
}

/** Tests that fail on the base, by name up to a few and with what they need: plain text. Null where none does. */
export function setAsideNote({ checks }: Pick<RunView, 'checks'>): string | null {
  const { silence, aside = [], total = 0 } = checks?.base ?? {};
  if (silence !== undefined || aside.length === 0) return null;
  const count = aside.reduce((sum, group) => sum + group.count, 0);
  const why = count === 1 ? 'it fails' : 'they fail';
  const groups = aside.map((group) => groupText(group, aside.length > 1));
  return `Runoff set ${count} of ${counted(total, 'base test')} aside, because ${why} on the base commit: ${groups.join(', ')}.`;
}

function groupText({ because, count, names }: SetAside, amongOthers: boolean): string {
  const more = count > names.length ? `; and ${count - names.length} more` : '';
  const named = `${names.join('; ')}${more}`;
  if (because === 'failing') return amongOthers ? `${counted(count, 'other')} (${named})` : named;
  return `${counted(count, 'test')} ${count === 1 ? 'needs' : 'need'} ${NEEDED[because]} (${named})`;
}
