import { isOver, upperFirst } from '../../core/model/index.ts';
import { notable } from '../../core/patches/index.ts';
import { chosenOf } from '../../core/ranking/index.ts';
import {
  commandNotes,
  contestedQuestion,
  type Diffs,
  debateSummary,
  lookAtNotes,
  lookAtText,
  plusMinus,
  type RankReason,
  type RunView,
  reasonsOnce,
  runSummary,
  sequenceResult,
  testNotes,
  visibleCode,
} from '../../core/reports/index.ts';
import { mergeCommand, nextCommands } from './commands.ts';
import { review } from './debate.ts';
import { judgesLines } from './judges.ts';
import { spentText } from './progress.ts';
import { rankingTable } from './ranking.ts';
import { clipped, displayWidth, type Paint, padded, painter, printable, TERMINAL, wrap } from './terminal.ts';

interface FinalReportOptions {
  /** Columns; commands and URLs are never cut. */
  readonly width: number;
  readonly colour: boolean;
  /** For the list of files that the chosen candidate changes. */
  readonly diffs?: Diffs;
  /** Current folder of the reader: commands omit `-C` if it is the repository. */
  readonly cwd?: string;
  /** More commands to offer, each with its description. */
  readonly commands?: readonly (readonly [string, string])[];
  /**
   * Whether what was published no longer exists (the demo's servers have ended): then offer no command that needs it.
   */
  readonly gone?: boolean;
}

/** The report at the end of a run: the verdict, the table, the reasons, the result, the next command. */
export function finalReport(view: RunView, options: FinalReportOptions): readonly string[] {
  const paint = painter(options.colour);
  const width = Math.max(20, options.width);
  const sections = [
    [...verdict(view, options, width, paint), ...cost(view, width)],
    view.evidence.length === 0 ? [] : rankingTable(view, width, paint),
    view.evidence.length === 0 ? [] : whyNot(view, width, paint),
    judgesLines(view, width, paint),
    review(view, width, paint),
    changes(view, options.diffs ?? {}, width, paint),
    notes(view, width, paint),
    result(view, paint),
    next(view, options, paint),
  ].filter((lines) => lines.length > 0);
  return sections.flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]));
}

/** In the words of comments and pages. */
function verdict(view: RunView, options: FinalReportOptions, width: number, paint: Paint): readonly string[] {
  const { title, outcome, waits, warnings, next: advice } = runSummary(view, TERMINAL);
  // The command that merges the chosen candidate is among the last lines; what is gone needs no review.
  const help = advice === '' || options.gone || mergeCommand(view) !== null ? [] : [advice];
  return [
    ...wrap(upperFirst(title), width).map((line) => paint(titleTone(view), line)),
    ...[...outcome, ...waits, ...warnings, ...help].flatMap((block) => wrap(block, width)),
  ];
}

function titleTone(view: RunView): 'good' | 'bad' | 'strong' {
  if (!isOver(view.state)) return 'strong';
  const isDone = view.state === 'published' || view.state === 'merged' || view.state === 'closed';
  return isDone && chosenOf(view) !== null ? 'good' : 'bad';
}

const cost = (view: RunView, width: number): readonly string[] =>
  view.budget.spent > 0 ? wrap(`Spent ${spentText(view)}.`, width) : [];

function whyNot(view: RunView, width: number, paint: Paint): readonly string[] {
  const entries = reasonsOnce(view);
  if (entries.length === 0) return [];
  return [paint('strong', 'Why not'), ...entries.flatMap((reason) => reasonLines(reason, width, paint))];
}

/** Maximum code points of a reason, and of an input with its results. */
const MAX_REASON_CHARACTERS = 600;
const MAX_INPUT_CHARACTERS = 400;
const inputText = ({ input, got, wanted, whose }: RankReason['inputs'][number]): string =>
  `For ${input.trim() === '' ? 'an input inside a test' : input} it returns ${got}, ${whose} ${wanted}.`;

/** Lines of a hunk that a terminal shows; the comparison and the branch have all of it. */
const HUNK_LINES = 8;

function reasonLines(reason: RankReason, width: number, paint: Paint): readonly string[] {
  const indent = '     ';
  const inner = width - indent.length;
  const sentenceLines = wrap(printable(reason.because, MAX_REASON_CHARACTERS), inner).map((line, index) =>
    index === 0 ? `  ${padded(reason.alias, 1)}  ${line}` : `${indent}${line}`,
  );
  const hunk = hunkLines(reason.hunk ?? '', inner).map((line) => indent + paint('dim', line));
  // The lines that failed a gate say enough; `runoff explain` has the tests.
  if (hunk.length > 0) return [...sentenceLines, ...hunk];
  const failing = reason.failing.flatMap((tests) => [
    `${indent}${clipped(`fails ${tests.of}:`, inner)}`,
    ...tests.names.map((name) => `${indent}  ${clipped(printable(name), inner - 2)}`),
    ...(tests.more > 0 ? [`${indent}  and ${tests.more} more`] : []),
  ]);
  const [input] = reason.inputs;
  const inputLines =
    input === undefined ? [] : wrap(printable(inputText(input), MAX_INPUT_CHARACTERS), inner);
  return [...sentenceLines, ...failing, ...inputLines.map((line) => indent + line)];
}

function hunkLines(hunk: string, width: number): readonly string[] {
  if (hunk.trim() === '') return [];
  const lines = hunk.replace(/\n$/, '').split('\n');
  const kept = lines.slice(0, HUNK_LINES).map((line) => {
    const spaced = line.slice(0, 500).replaceAll('\t', '  ').replace(/\r$/, '');
    return clipped(`| ${visibleCode(spaced)}`, width);
  });
  return lines.length > HUNK_LINES
    ? [...kept, clipped(`| … ${lines.length - HUNK_LINES} more lines`, width)]
    : kept;
}

/** Files that are listed; the rest is counted. */
const FILES_SHOWN = 12;

function changes(view: RunView, diffs: Diffs, width: number, paint: Paint): readonly string[] {
  const alias = chosenOf(view);
  const files = alias === null ? [] : (diffs[alias]?.patch.files ?? []);
  if (files.length === 0) return [];
  const sizes = files.map((file) => (file.binary ? 'binary' : plusMinus(file)));
  const column = Math.max(...sizes.map(displayWidth));
  return [
    paint('strong', `What ${alias} changes`),
    ...files.slice(0, FILES_SHOWN).map((file, index) => {
      const why = notable(file);
      const twice = why === null ? '' : `   (review closely: it ${why})`;
      return clipped(
        `  ${padded(sizes[index] ?? '', column, 'right')}  ${printable(file.path)}${twice}`,
        width,
      );
    }),
    ...(files.length > FILES_SHOWN ? [`  and ${files.length - FILES_SHOWN} more files`] : []),
  ];
}

/** Maximum number of code points of a note. */
const MAX_REPORT_NOTE_CHARS = 400;
const MAX_QUESTION_CHARACTERS = 1_500;

/** Deviations from the settings or the defaults, and contested tests. */
function notes(view: RunView, width: number, paint: Paint): readonly string[] {
  const toLookAt = lookAtNotes(view).map((note) => `Please look at ${lookAtText(note)}`);
  const long = [contestedQuestion(view) ?? [], toLookAt].flat();
  const lines = [
    ...long,
    ...[view.lowered, view.leftOut, commandNotes(view)].flatMap((one) => one ?? []),
    ...[sequenceResult(view) ?? [], view.learned ?? [], testNotes(view)].flat(),
    ...(view.debate ? [`Debate of the brief: ${debateSummary(view.debate, (critic) => critic)}`] : []),
  ];
  if (lines.length === 0) return [];
  const wrapped = lines.flatMap((line) =>
    wrap(
      printable(line, long.includes(line) ? MAX_QUESTION_CHARACTERS : MAX_REPORT_NOTE_CHARS),
      width - 4,
    ).map((part, index) => `${index === 0 ? '  - ' : '    '}${part}`),
  );
  return [paint('strong', 'Note'), ...wrapped];
}

function result(view: RunView, paint: Paint): readonly string[] {
  const { outcome } = view;
  if (outcome === undefined) return [];
  const branches = Object.entries(outcome.branches)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([alias, branch]) => `  ${printable(alias, 2)}  ${printable(branch)}`);
  if (outcome.kind === 'branches')
    return branches.length === 0 ? [] : [paint('strong', 'Branches'), ...branches];
  const links = [
    ...(outcome.kind === 'pull' ? [`Draft pull request #${outcome.number}: ${outcome.url}`] : []),
    ...(outcome.comparisonUrl === undefined ? [] : [`Comparison: ${outcome.comparisonUrl}`]),
    ...(view.pageUrl === undefined ? [] : [`In the browser: ${view.pageUrl}`]),
  ];
  return [paint('strong', 'Result'), ...links.map((line) => `  ${printable(line, 1_000)}`), ...branches];
}

function next(view: RunView, options: FinalReportOptions, paint: Paint): readonly string[] {
  const own = options.gone ? [] : nextCommands(view, options.cwd);
  const commands = [...own, ...(options.commands ?? [])];
  if (commands.length === 0) return [];
  return [
    paint('strong', 'Next'),
    ...commands.map(([command, does]) => `  ${command}   ${paint('dim', `# ${does}`)}`),
  ];
}
