import type { Evidence } from '../evidence/index.ts';
import { notableGroups } from '../patches/index.ts';
import { chosenOf } from '../ranking/index.ts';
import { counted, elapsed } from './format.ts';
import { details, fill, tableRows } from './layout.ts';
import {
  baseTestsText,
  type FailingTests,
  failedGate,
  type InputExample,
  type RankReason,
  reasons,
  standings,
} from './ranking-table.ts';
import { code, fencedDiff, inertSentence, prose } from './safe.ts';
import { agreementNote, testNotes, whereFacts } from './test-facts.ts';
import type { ChecksView, Diffs, RunView } from './view.ts';

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
          `- Runoff executed every candidate on base commit ${code(view.base.sha)} (${code(view.base.ref)}); the exit code is that of the test command on the base tests`,
        ]
      : []),
    ...(view.checks ? [`- Commands: ${checkCommands(view.checks)}`] : []),
    ...whereFacts(view),
    "- Base tests: the base commit's own test files, run on each candidate's production code",
    "- New tests, run on each candidate's production code: independent tests, written by no contestant, and peer tests, added by other survivors",
    '- Behaviour: how often a candidate returns what the others return, over inputs from tests and issue on which they disagree',
    ...[agreementNote(view) ?? [], testNotes(view)]
      .flat()
      .map((note) => `- ${inertSentence(note, MAX_NOTE)}`),
    ...notableFacts(diffs),
  ].join('\n');
  const rows = standings(view).flatMap(({ evidence }) => (evidence ? [row(evidence)] : []));
  if (rows.length === 0) return facts;
  const body = fill(tableRows(HEAD, 'llrrrrrl', rows), room - facts.length - 2, {
    separator: '\n',
    more: (left) => `\n(${left} more, omitted for length)`,
  });
  return body === '' ? facts : `${facts}\n\n${body}`;
}

/** Code points of one note. */
const MAX_NOTE = 300;
/** Files named for each reason; the rest is counted. */
const MAX_FILES_NAMED = 5;

/** Files that act where no test sees it: a reader shall look twice, whoever wins. A line for each reason. */
function notableFacts(diffs: Diffs): readonly string[] {
  return Object.entries(diffs)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([alias, { files }]) =>
      notableGroups(files).map(
        ({ what, paths }) => `- **Review ${alias} closely:** ${namedFiles(paths)} ${what}`,
      ),
    );
}

function namedFiles(paths: readonly string[]): string {
  const shown = paths.slice(0, MAX_FILES_NAMED).map((path) => code(path, 100));
  const more = paths.length > MAX_FILES_NAMED ? ` and ${paths.length - MAX_FILES_NAMED} more` : '';
  return paths.length === 1 ? (shown[0] as string) : `${shown.join(', ')}${more}: each`;
}

/** Commands come from the repository's settings; shown as they were run. */
export function checkCommands(checks: ChecksView): string {
  return [
    ...(checks.setup ? [`setup ${code(checks.setup, 200)}`] : []),
    ...(checks.build ? [`build ${code(checks.build, 200)}`] : []),
    ...(checks.test ? [`test ${code(checks.test, 200)}`] : []),
  ].join(', ');
}

function row(evidence: Evidence): readonly string[] {
  const tests = evidence.baseTests;
  const passed = evidence.gates.filter((gate) => gate.passed).length;
  const stopped = failedGate(evidence);
  return [
    `**${evidence.alias}**`,
    stopped === undefined ? `${passed}/${evidence.gates.length}` : `stopped at \`${stopped.gate}\``,
    baseTestsText(evidence),
    tests ? String(tests.regressions.length) : '–',
    tests ? String(tests.fixed.length) : '–',
    tests ? String(tests.exitCode ?? 'none') : '–',
    tests ? elapsed(tests.ms) : '–',
    evidence.patchSha256 === '' ? '–' : code(evidence.patchSha256.slice(0, 16)),
  ];
}

/** UTF-16 units of the lines that broke a gate. */
const MAX_HUNK = 1_500;
/** What folds it away, and the note that it was shortened. */
const HUNK_FRAME_SIZE = 120;
/** Code points of an input, and of what it gives. */
const MAX_VALUE = 160;

/** Why not each other candidate: one sentence, the tests it fails, inputs that show it, the lines that broke a gate. */
export function reasonsSection(view: RunView, room: number, everyone = false): string {
  const all = reasons(view, everyone);
  if (all.length === 0) return '';
  const title =
    chosenOf(view) === null
      ? '#### Why no candidate won'
      : everyone
        ? '#### Details of each candidate'
        : '#### Why not the others';
  const share = Math.floor((room - title.length) / all.length) - 2;
  const entries = all.map((reason) => reasonText(reason, share)).filter((text) => text !== '');
  return [title, ...entries].join('\n\n');
}

/** One candidate of these. */
export function reasonText(reason: RankReason, room: number): string {
  const lines = [
    `**${reason.alias}**: ${inertSentence(reason.because)}`,
    ...reason.failing.map(failing),
    ...reason.inputs.map(inputLine),
  ];
  const text = fill(lines, room, {
    separator: '\n',
    more: (left) => `- (${counted(left, 'more line')}, omitted for length)`,
  });
  if (reason.hunk === undefined) return text;
  const hunk = fencedDiff(reason.hunk, Math.min(MAX_HUNK, room - text.length - HUNK_FRAME_SIZE));
  if (hunk === null) return text;
  const block = details('The lines in question', `${hunk.block}${hunk.whole ? '' : '\n\n(shortened)'}`);
  return `${text}\n\n${block}`;
}

function failing(tests: FailingTests): string {
  const names = tests.names.map((name) => code(name, 140)).join(', ');
  return `- fails ${tests.of}: ${names}${tests.more > 0 ? ` and ${tests.more} more` : ''}`;
}

/** One executed input with what came out. A probe that follows a test from inside has no text of its own. */
const inputLine = ({ input, got, wanted, whose }: InputExample): string =>
  `- ${input.trim() === '' ? 'one input' : `input ${code(input, MAX_VALUE)}`} returns ${prose(got, MAX_VALUE)}, ${whose} ${prose(wanted, MAX_VALUE)}`;
