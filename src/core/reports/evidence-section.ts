import type { Evidence } from '../evidence/index.ts';
import { notableGroups } from '../patches/index.ts';
import { elapsed } from './format.ts';
import { fill, tableRows } from './layout.ts';
import { baseTestsWord, failedGate, standings } from './rows.ts';
import { code, sentence } from './safe.ts';
import { agreementNote, testNotes } from './test-facts.ts';
import type { ChecksView, Diffs, RunView } from './view.ts';
import { whereFacts } from './where.ts';

const HEAD = [
  'candidate',
  'gates',
  'base tests',
  'broke',
  'fixed',
  'exit code',
  'test time',
  'patch SHA-256',
];

/** What was executed, on which commit, with which commands and exit codes: enough to do it again. */
export function evidenceSection(view: RunView, diffs: Diffs, room: number): string {
  const facts = [
    '#### Evidence',
    '',
    ...(view.base
      ? [
          `- Executed by us, each candidate on base commit ${code(view.base.sha)} (${code(view.base.ref)}); the exit code is that of the test command over the base tests`,
        ]
      : []),
    ...(view.checks ? [`- Commands: ${commands(view.checks)}`] : []),
    ...whereFacts(view),
    "- Base tests: the base commit's own test files, run over each candidate's production code",
    "- New tests, run over this candidate's production code: neutral ones, which nobody who competes has written, and those of peers, which other survivors added",
    '- Behaviour: how far it gives what the others give, on inputs derived from tests and issue on which not all agree',
    ...[agreementNote(view) ?? [], testNotes(view)].flat().map((note) => `- ${sentence(note, NOTE)}`),
    ...notableFacts(diffs),
  ].join('\n');
  const rows = standings(view).flatMap(({ evidence }) => (evidence ? [row(evidence)] : []));
  if (rows.length === 0) return facts;
  const body = fill(tableRows(HEAD, 'llrrrrrl', rows), room - facts.length - 2, {
    separator: '\n',
    more: (left) => `\n(${left} more, left out for length)`,
  });
  return body === '' ? facts : `${facts}\n\n${body}`;
}

/** Code points of one note. */
const NOTE = 300;
/** Files named for each reason; the rest is counted. */
const MOST_NAMED = 5;

/** Files that act where no test sees it: a reader shall look twice, whoever wins. A line for each reason. */
function notableFacts(diffs: Diffs): readonly string[] {
  return Object.entries(diffs)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([alias, { files }]) =>
      notableGroups(files).map(({ what, paths }) => `- **Look twice at ${alias}:** ${named(paths)} ${what}`),
    );
}

function named(paths: readonly string[]): string {
  const shown = paths.slice(0, MOST_NAMED).map((path) => code(path, 100));
  const more = paths.length > MOST_NAMED ? ` and ${paths.length - MOST_NAMED} more` : '';
  return paths.length === 1 ? (shown[0] as string) : `${shown.join(', ')}${more}: each`;
}

/** Commands come from the repository's settings; shown as they were run. */
export function commands(checks: ChecksView): string {
  return [
    ...(checks.setup ? [`setup ${code(checks.setup, 200)}`] : []),
    ...(checks.build ? [`build ${code(checks.build, 200)}`] : []),
    `test ${code(checks.test, 200)}`,
  ].join(', ');
}

function row(evidence: Evidence): readonly string[] {
  const tests = evidence.baseTests;
  const passed = evidence.gates.filter((gate) => gate.passed).length;
  const stopped = failedGate(evidence);
  return [
    `**${evidence.alias}**`,
    stopped === undefined ? `${passed}/${evidence.gates.length}` : `stopped at \`${stopped.gate}\``,
    baseTestsWord(evidence),
    tests ? String(tests.regressions.length) : '–',
    tests ? String(tests.fixed.length) : '–',
    tests ? String(tests.exitCode ?? 'none') : '–',
    tests ? elapsed(tests.ms) : '–',
    evidence.patchSha256 === '' ? '–' : code(evidence.patchSha256.slice(0, 16)),
  ];
}
