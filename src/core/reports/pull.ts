import type { Alias, Candidate } from '../model/index.ts';
import { notable } from '../patches/index.ts';
import { commands } from './evidence-section.ts';
import { counted, elapsed, money, plusMinus } from './format.ts';
import { fill } from './layout.ts';
import { report } from './marker.ts';
import { reviewLine } from './review-section.ts';
import { baseTestsWord, newTestsWord } from './rows.ts';
import { code, plain, sentence } from './safe.ts';
import type { Diffs, DiffView, RunView } from './view.ts';
import { testedWhere, weakerLines } from './where.ts';
import { contestantName, verdictWords } from './words.ts';

/** Code points of a commit's subject: what `git log --oneline` and GitHub show without folding. */
const SUBJECT = 72;
/** GitHub takes 256 characters; more than this is not read in a list. */
const TITLE = 120;
/** UTF-16 units of the list of changed files. */
const FILES_ROOM = 6_000;

export interface PullText {
  readonly marker: string;
  readonly title: string;
  readonly body: string;
}

/** Title and body of the draft pull request. The one closing line is ours; no text of others can add another. */
export function pullRequest(view: RunView, alias: Alias, diffs: Diffs): PullText {
  const { marker, body } = report('pull', view.id, [
    closingLine(view),
    chosenLine(view, alias),
    ...weakerLines(view),
    changes(diffs[alias]),
    evidence(view, alias),
    comparisonLine(view),
    ciLine(view),
  ]);
  return { marker, title: subject(view, TITLE), body };
}

const closingLine = (view: RunView): string =>
  view.origin.kind === 'github' ? `Fixes #${view.origin.issue}` : '';

function chosenLine(view: RunView, alias: Alias): string {
  const decision = view.decision;
  const among = `Candidate **${alias}** of ${view.candidates.length}`;
  if (!decision || decision.kind === 'none' || decision.alias !== alias) return `${among}.`;
  return `${among} — ${verdictWords(decision)}. ${sentence(decision.because, 600)}`;
}

function changes(diff: DiffView | undefined): string {
  if (diff === undefined || diff.files.length === 0) return '';
  const lines = diff.files.map(
    (file) =>
      `- ${code(file.path, 200)} ${file.change}, ${file.binary ? 'binary' : plusMinus(file)}${lookTwice(file)}`,
  );
  const list = fill(lines, FILES_ROOM, { separator: '\n', more: (left) => `- and ${left} more` });
  return `### What changed\n\n${list}`;
}

function lookTwice(file: DiffView['files'][number]): string {
  const why = notable(file);
  return why === null ? '' : `. **Look twice:** it ${why}`;
}

/** At most seven lines; the comparison has the rest. */
function evidence(view: RunView, alias: Alias): string {
  const candidate = view.candidates.find((one) => one.alias === alias);
  const found = view.evidence.find((one) => one.alias === alias);
  const others = newTestsWord(found);
  const gates = found?.gates ?? [];
  const lines = [
    ...(view.base ? [`- Base commit ${code(view.base.sha)} (${code(view.base.ref)})`] : []),
    ...(view.checks ? [`- Commands: ${commands(view.checks)}`] : []),
    ...(gates.length > 0
      ? [`- Gates passed: ${gates.filter((gate) => gate.passed).length} of ${gates.length}`]
      : []),
    ...(found?.baseTests ? [`- ${baseTestsLine(found.baseTests, baseTestsWord(found))}`] : []),
    others === '–' ? '- No tests by anybody else to run' : `- Tests that it did not write, passed: ${others}`,
    ...[reviewLine(view, alias)].filter((line) => line !== ''),
    ...(candidate ? [`- ${madeBy(candidate)}`] : []),
  ];
  return `### Evidence\n\n${lines.join('\n')}`;
}

function baseTestsLine(tests: NonNullable<RunView['evidence'][number]['baseTests']>, passed: string): string {
  if (tests.source === 'exit-code') return `Base tests: exit code ${tests.exitCode ?? 'none'}`;
  const broken = `${counted(tests.regressions.length, 'test')} broken`;
  return `Base tests: ${passed} passed, ${broken}, ${tests.fixed.length} fixed, exit code ${tests.exitCode ?? 'none'}`;
}

const madeBy = (candidate: Candidate): string =>
  `Written by ${code(contestantName(candidate.contestant), 80)} in ${elapsed(candidate.ms)} for ${money(candidate.usage.usd)}`;

/** The comparison is a comment on the pull request, so that it cannot be linked before there is one. */
const comparisonLine = (view: RunView): string =>
  `The comparison with every other candidate, their diffs included, is in a comment below (run ${code(view.id)}).`;

function ciLine(view: RunView): string {
  if (view.ci === 'run') return '';
  return "**CI is held.** No person has read this code yet, so the commit asks GitHub's own workflows not to start. Read the diff; any commit you push to this branch starts them. When you squash, delete the skip line from the proposed message, or the default branch skips its CI too.";
}

/**
 * The message of a candidate's commit. Only the chosen one says `Fix #7`: every other branch would else show up on the
 * issue as if it closed it.
 */
export function commitMessage(view: RunView, alias: Alias): string {
  const decision = view.decision;
  const chosen = decision && decision.kind !== 'none' && decision.alias === alias;
  const first = chosen ? subject(view, SUBJECT) : loserSubject(view, alias);
  const why = chosen ? ` (${verdictWords(decision)})` : '';
  return [
    first,
    `Candidate ${alias} of ${view.candidates.length}${why}.\nWritten by a coding agent and tested ${testedWhere(view)}; no person has read it yet.`,
    // A local branch is merged by hand: there it would silence the CI of the branch it lands on.
    ...(view.ci === 'hold' && view.origin.kind === 'github' ? ['[skip ci]'] : []),
    `Runoff-Run: ${view.id}`,
  ]
    .join('\n\n')
    .concat('\n');
}

function subject(view: RunView, limit: number): string {
  const prefix = view.origin.kind === 'github' ? `Fix #${view.origin.issue}: ` : '';
  return `${prefix}${plain(view.title, limit - prefix.length) || 'the task of this run'}`;
}

function loserSubject(view: RunView, alias: Alias): string {
  const prefix = `Candidate ${alias}: `;
  return `${prefix}${plain(view.title, SUBJECT - prefix.length) || 'the task of this run'}`;
}
