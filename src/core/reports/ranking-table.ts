import type { Evidence } from '../evidence/index.ts';
import { type Alias, byAlias } from '../model/index.ts';
import { chosenOf, leftToPerson, pickOf, type Ranked } from '../ranking/index.ts';
import { newTestsOf, testFaultOf } from './executed.ts';
import { contestantName, costText, counted, elapsed, plusMinus, SEPARATOR_LABELS, tokens } from './format.ts';
import { fill, tableRows } from './markdown.ts';
import type { CandidateView, RunView } from './view.ts';

/** All data of one candidate. */
export interface CandidateStanding {
  readonly candidate: CandidateView;
  readonly evidence: Evidence | undefined;
  readonly ranked: Ranked | undefined;
  readonly chosen: boolean;
}

/** Every candidate once: by place, then those without a place by alias. */
export function standings(view: RunView): readonly CandidateStanding[] {
  const winner = chosenOf(view);
  const placeOf = (alias: Alias): number =>
    view.ranking.find((ranked) => ranked.alias === alias)?.place ?? Number.POSITIVE_INFINITY;
  return view.candidates
    .map((candidate) => ({
      candidate,
      evidence: view.evidence.find((evidence) => evidence.alias === candidate.alias),
      ranked: view.ranking.find((ranked) => ranked.alias === candidate.alias),
      chosen: candidate.alias === winner,
    }))
    .sort((one, other) => {
      const [a, b] = [placeOf(one.candidate.alias), placeOf(other.candidate.alias)];
      if (a !== b) return a < b ? -1 : 1;
      return byAlias(one.candidate, other.candidate);
    });
}

/** One row of the ranking table, as plain text, not yet escaped for Markdown or a terminal. */
export interface RankRow {
  readonly alias: Alias;
  readonly contestant: string;
  /** Findings of the type check that the base lacks. */
  readonly types: string;
  readonly baseTests: string;
  /** Results of tests that it did not write. */
  readonly newTests: string;
  /** Agreement of its behaviour with the others', unless all behave alike. */
  readonly behaviour: string;
  /** Candidates whose changes differ only in comments and layout, including itself. */
  readonly alike: string;
  /** Wins, ties and losses before blind judges. */
  readonly judges: string;
  /** Scores that separated candidates: patch score, metrics, weighted mean. */
  readonly scores: string;
  readonly lines: string;
  readonly cost: string;
  readonly time: string;
  readonly result: string;
  readonly chosen: boolean;
}

export function rankRows(view: RunView): readonly RankRow[] {
  return standings(view).map((standing) => ({
    alias: standing.candidate.alias,
    contestant: contestantName(standing.candidate.contestant),
    types: typesText(standing.evidence),
    baseTests: existingTestsText(standing.evidence),
    newTests: newTestsText(view, standing.candidate.alias, standing.evidence),
    behaviour: behaviourText(standing.evidence),
    alike: alikeText(standing.evidence?.alike),
    judges: judgesText(view, standing.candidate.alias),
    scores: scoresText(view, standing),
    lines: standing.candidate.patch === undefined ? '–' : plusMinus(standing.candidate.patch),
    cost: spentText(standing.candidate.usage),
    time: elapsed(standing.candidate.ms),
    result: resultText(view, standing),
    chosen: standing.chosen,
  }));
}

/** Only where there is another one. */
const alikeText = (alike: readonly Alias[] = []): string => (alike.length > 1 ? alike.join(' = ') : '–');

/** Models without a known price, and free models, show only tokens. */
function spentText(usage: CandidateView['usage']): string {
  const used = usage ? usage.tokensIn + usage.tokensOut : 0;
  return usage?.usd === 0 && used > 0 ? `${tokens(used)} tok` : costText(usage);
}

/** `no new`, `2 new`, `no new, 3 fixed`; what is fixed says nothing if the checker was configured otherwise. */
function typesText(evidence: Evidence | undefined): string {
  const found = evidence?.types;
  if (found === undefined) return '–';
  if (found.addedCount === 0 && found.failed) return 'failed';
  if (found.configured)
    return `${found.addedCount > 0 ? `${found.addedCount} new, ` : ''}other configuration`;
  const added = found.addedCount === 0 ? 'no new' : `${found.addedCount} new`;
  return found.gone === 0 ? added : `${added}, ${found.gone} fixed`;
}

/** With a mark: `✓ 27/27`, `✗ 26/27`; what fails on the base too is no fault of a candidate. */
function existingTestsText(evidence: Evidence | undefined): string {
  const tests = evidence?.baseTests;
  if (tests === undefined) return 'not run';
  const isBroken = tests.regressions.length > 0;
  return `${isBroken ? '✗' : tests.silent ? '?' : '✓'} ${baseTestsText(evidence)}`;
}

export function baseTestsText(evidence: Evidence | undefined): string {
  const tests = evidence?.baseTests;
  if (tests === undefined) return '–';
  return tests.source === 'report' ? `${tests.passed}/${tests.total}` : `exit ${tests.exitCode ?? 'none'}`;
}

/** `✓ 4/4`, `✗ 5/10, 2 not run`, `not run`: of the new tests that it did not write; `–` if there are none. */
function newTestsText(view: RunView, alias: Alias, evidence: Evidence | undefined): string {
  const { passed, ran, total } = newTestsOf(view, alias);
  const counts = ran === 0 ? 'not run' : markedCount(passed, ran);
  const left = ran > 0 && ran < total ? `, ${total - ran} not run` : '';
  const mutants = evidence?.mutants;
  const texts = [
    ...(total === 0 ? [] : [`${counts}${left}`]),
    ...(mutants ? [`catches ${mutants.caught}/${mutants.total} mutants`] : []),
  ];
  return texts.join(', ') || '–';
}

/** With a mark that can be read without colour. */
const markedCount = (passed: number, total: number): string =>
  `${passed === total ? '✓' : '✗'} ${passed}/${total}`;

function behaviourText(evidence: Evidence | undefined): string {
  const found = evidence?.behaviour;
  return found && found.contested > 0 ? `${Math.round(found.agreement * 100)}% as the others` : '–';
}

function judgesText({ judgement }: RunView, alias: Alias): string {
  const found = judgement?.standings.find((one) => one.alias === alias);
  return found ? `${found.wins}-${found.ties}-${found.losses}` : '–';
}

/** `patch score 110, metrics 80.0`: the scores that separated candidates. */
function scoresText({ ranking }: RunView, { evidence, ranked }: CandidateStanding): string {
  if (!ranked?.survivor) return '–';
  const decided = new Set(ranking.map(({ separatedBy }) => separatedBy));
  const texts = [
    ...(decided.has('score') ? [`patch score ${evidence?.staticScore?.score ?? 0}`] : []),
    ...(decided.has('metrics') ? [`metrics ${ranked.metrics.total.toFixed(1)}`] : []),
    ...(decided.has('vote') ? [`${counted(ranked.votes, 'family', 'families')}`] : []),
    ...(decided.has('weights') ? [`weighted ${(ranked.weighted ?? 0).toFixed(2)}`] : []),
  ];
  return texts.join(', ') || '–';
}

function resultText(view: RunView, standing: CandidateStanding): string {
  const { candidate, evidence, ranked } = standing;
  if (standing.chosen) return chosenLabel(view);
  const fault = testFaultOf(view, candidate.alias);
  const isAsked = view.decision?.kind === 'toss-up' && view.decision.among.includes(candidate.alias);
  const isPicked = (view.picks ?? []).length > 0;
  if (isAsked && !isPicked && fault === null) return 'toss-up';
  if (fault !== null) return fault;
  if (candidate.state === 'cancelled') return 'cancelled';
  if (evidence === undefined) return candidate.patch === undefined ? 'left no patch' : 'not examined';
  if (candidate.alias === pickOf(view.decision)) return 'ranked first by evidence';
  const above = ranked && view.ranking[view.ranking.indexOf(ranked) - 1];
  if (above?.separatedBy === undefined) return evidence.survivor ? 'passed' : 'failed a gate';
  if (above.separatedBy === 'alike') return `same as ${above.alias}`;
  if (above.separatedBy === 'tie') return `tied with ${above.alias}`;
  return `behind ${above.alias}: ${SEPARATOR_LABELS[above.separatedBy]}`;
}

function chosenLabel(view: RunView): string {
  if ((view.picks ?? []).length > 0) return 'picked by a person';
  const { decision } = view;
  if (leftToPerson(decision)) return 'ranked first by evidence';
  if (decision?.kind === 'winner') return `the pick, ${decision.confidence}`;
  return decision?.kind === 'toss-up' && decision.among.length > 1 ? 'toss-up, first' : 'first';
}

interface RankingColumn {
  readonly title: string;
  readonly side: 'l' | 'r';
  readonly cell: (row: RankRow) => string;
  /** Left out if empty for all candidates. */
  readonly optional?: true;
}
/** Not broken between lines on a narrow screen. */
const unbroken = (text: string): string => text.replaceAll(' ', '&nbsp;');

/** At most this many, so that the table fits the width of a comment. */
const MAX_COLUMNS = 7;

/**
 * What everybody looks for, then what only some runs have, most informative first; the first ones that fit are shown.
 * Costs are in the fold with the names: with one more column, ordinary tables are wider than a phone.
 */
const COLUMNS: readonly RankingColumn[] = [
  { title: '', side: 'l', cell: (row) => `**${row.alias}**` },
  { title: 'verdict', side: 'l', cell: (row) => (row.chosen ? `**${row.result}**` : row.result) },
  { title: 'existing tests', side: 'r', cell: (row) => unbroken(row.baseTests) },
  { title: 'new tests', side: 'r', cell: (row) => row.newTests, optional: true },
  { title: 'lines', side: 'r', cell: (row) => unbroken(row.lines) },
  { title: 'judges', side: 'r', cell: (row) => row.judges, optional: true },
  { title: 'scores', side: 'r', cell: (row) => row.scores, optional: true },
  { title: 'types', side: 'l', cell: (row) => row.types, optional: true },
  { title: 'same change', side: 'l', cell: (row) => row.alike, optional: true },
];

/** One row for each candidate, best first. */
export function rankingSection(view: RunView, maxLength: number): string {
  const rows = rankRows(view);
  const columns = COLUMNS.filter(
    ({ optional, cell }) => !optional || rows.some((row) => cell(row) !== '–'),
  ).slice(0, MAX_COLUMNS);
  const lines = tableRows(
    columns.map(({ title }) => title),
    columns.map(({ side }) => side).join(''),
    rows.map((row) => columns.map(({ cell }) => cell(row))),
  );
  return fill(lines, maxLength, {
    separator: '\n',
    more: (left) => `\n(${left} more, omitted for length)`,
  });
}
