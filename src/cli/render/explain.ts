import { type Evidence, findingsOf, findingText } from '../../core/evidence/index.ts';
import type { Alias } from '../../core/model/index.ts';
import {
  costText,
  counted,
  elapsed,
  plusMinus,
  type RankRow,
  type RunView,
  rankRows,
  reasons,
  tokensText,
} from '../../core/reports/index.ts';
import type { Evaluator } from '../../core/settings/index.ts';
import { matchesOf } from './judges.ts';
import { type Paint, painter, printable, wrap } from './terminal.ts';

/** Maximum names of tests and places of a patch that are listed; the rest is counted. */
const MAX_PLACES = 20;

interface Options {
  readonly width: number;
  readonly colour: boolean;
}

/** All that is known about one candidate; null if the run has none with this letter. */
export function explainText(view: RunView, alias: Alias, { width, colour }: Options): string | null {
  const candidate = view.candidates.find((one) => one.alias === alias);
  const row = rankRows(view).find((one) => one.alias === alias);
  if (!candidate || !row) return null;
  const paint = painter(colour);
  const evidence = view.evidence.find((one) => one.alias === alias);
  const section = (title: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0 ? [] : [paint('strong', title), ...lines];
  const sections = [
    headLines(view, row, width, paint),
    section('What decided its place', reasonLines(view, alias, width)),
    section('Checks', gateLines(evidence, width)),
    section('Places to look at', findingLines(evidence, width)),
    section('Scores', scoreLines(view, alias, width)),
    section('Judges (opinions, not executed)', matchesOf(view, alias, width)),
    section('Its note', candidate.note === '' ? [] : items([candidate.note], width)),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function headLines(view: RunView, row: RankRow, width: number, paint: Paint): readonly string[] {
  const candidate = view.candidates.find((one) => one.alias === row.alias);
  const ranked = view.ranking.find(({ alias }) => alias === row.alias);
  const where = ranked?.survivor ? `, place ${ranked.place} of ${view.ranking.length}` : '';
  const facts = candidate
    ? [
        row.contestant,
        ...(candidate.patch
          ? [`${plusMinus(candidate.patch)} in ${counted(candidate.patch.files, 'file')}`]
          : ['no patch']),
        elapsed(candidate.ms),
        ...(candidate.usage ? [`${tokensText(candidate.usage)} tokens`, costText(candidate.usage)] : []),
      ]
    : [];
  return [
    paint('strong', `Candidate ${row.alias}: ${printable(row.result)}${where}`),
    ...wrap(printable(facts.join(' · '), 400), width),
  ];
}

function reasonLines(view: RunView, alias: Alias, width: number): readonly string[] {
  const reason = reasons(view, true).find((one) => one.alias === alias);
  if (!reason) return [];
  return [
    ...items(reason.because === '' ? [] : [reason.because], width),
    ...reason.failing.flatMap(({ of, names, more }) =>
      items([`fails ${of}: ${names.join(' · ')}${more > 0 ? ` and ${more} more` : ''}`], width),
    ),
    ...reason.inputs.flatMap(({ input, got, wanted, whose }) =>
      items([`${input} gives ${got}; ${whose} ${wanted}`], width),
    ),
  ];
}

const gateLines = (evidence: Evidence | undefined, width: number): readonly string[] =>
  (evidence?.gates ?? []).flatMap(({ gate, passed, because }) =>
    items([`${passed ? '✓' : '✗'} ${gate}: ${because}`], width),
  );

function findingLines(evidence: Evidence | undefined, width: number): readonly string[] {
  const found = evidence ? findingsOf(evidence) : [];
  const left = found.length - MAX_PLACES;
  return items(
    [...found.slice(0, MAX_PLACES).map(findingText), ...(left > 0 ? [`and ${left} more`] : [])],
    width,
  );
}

function scoreLines(view: RunView, alias: Alias, width: number): readonly string[] {
  const ranked = view.ranking.find((one) => one.alias === alias);
  const candidate = view.candidates.find((one) => one.alias === alias);
  if (!ranked || candidate?.patch === undefined) return [];
  const { support, metrics, survivor } = ranked;
  const evidence = view.evidence.find((one) => one.alias === alias);
  const patch = evidence?.staticScore;
  const places =
    evidence?.survivor === false ? 'without effect, because it failed a gate' : 'of use only within this run';
  const unless = (name: Evaluator) => `counts only if \`evaluator\` or \`weights\` names \`${name}\``;
  return items(
    [
      `executed evidence: ${support.toFixed(2)} (logarithm of odds, ${places})`,
      ...(metrics && survivor ? [`metrics: ${Math.round(metrics.total)} of 100 (${unless('metrics')})`] : []),
      ...(patch ? [`patch: ${Math.round(patch.score)} of 120 (${unless('score')})`, ...patch.because] : []),
    ],
    width,
  );
}

const items = (texts: readonly string[], width: number): readonly string[] =>
  texts.flatMap((text) =>
    wrap(printable(text, 600), width - 4).map((line, index) => `${index === 0 ? '  - ' : '    '}${line}`),
  );
