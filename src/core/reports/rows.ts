import { chosenOf, leftToPerson, pickOf } from '../decision/index.ts';
import type { Evidence } from '../evidence/index.ts';
import type { Alias, Candidate } from '../model/index.ts';
import type { Ranked } from '../ranking/index.ts';
import { counted, elapsed, money, plusMinus, tokens } from './format.ts';
import type { RunView } from './view.ts';
import { contestantName, GATE_WORDS, SEPARATOR_WORDS, shortContestantNames } from './words.ts';

/** All that is known of one candidate, in one place. */
export interface Standing {
  readonly candidate: Candidate;
  readonly evidence: Evidence | undefined;
  readonly ranked: Ranked | undefined;
  readonly chosen: boolean;
}

/** Every candidate once: by place, then those without a place by alias. */
export function standings(view: RunView): readonly Standing[] {
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
      return one.candidate.alias < other.candidate.alias ? -1 : 1;
    });
}

/** One line of the ranking table, as plain text not yet fit for Markdown or a terminal. */
export interface RankRow {
  readonly alias: Alias;
  readonly contestant: string;
  /** What tells it from the others. */
  readonly contestantShort: string;
  readonly build: string;
  readonly baseTests: string;
  /** Tests that it did not write. */
  readonly newTests: string;
  /** How far it behaves like the others where not all do alike. */
  readonly behaviour: string;
  /** Those who made the same change but for comments and layout, itself included. */
  readonly alike: string;
  /** Wins, ties and losses before blind judges. */
  readonly judges: string;
  readonly lines: string;
  readonly cost: string;
  readonly time: string;
  readonly verdict: string;
  readonly chosen: boolean;
}

export function rankRows(view: RunView): readonly RankRow[] {
  const all = standings(view);
  const short = shortContestantNames(all.map(({ candidate }) => candidate.contestant));
  return all.map((standing, index) => ({
    alias: standing.candidate.alias,
    contestant: contestantName(standing.candidate.contestant),
    contestantShort: short[index] ?? '',
    build: buildWord(standing.evidence),
    baseTests: baseTestsWord(standing.evidence),
    newTests: newTestsWord(standing.evidence),
    behaviour: behaviourWord(standing.evidence),
    alike: (standing.evidence?.alike ?? []).join(' = ') || '–',
    judges: judgesWord(view, standing.candidate.alias),
    lines: standing.candidate.patch === undefined ? '–' : plusMinus(standing.candidate.patch),
    cost: costWord(standing.candidate.usage),
    time: elapsed(standing.candidate.ms),
    verdict: verdictWord(view, standing),
    chosen: standing.chosen,
  }));
}

/** A model without a known price has tokens only; so has one that is free. */
function costWord({ usd, tokensIn, tokensOut }: Candidate['usage']): string {
  const used = tokensIn + tokensOut;
  return usd === 0 && used > 0 ? `${tokens(used)} tok` : money(usd);
}

function buildWord(evidence: Evidence | undefined): string {
  const gate = evidence?.gates.find((report) => report.gate === 'builds');
  if (gate === undefined) return '–';
  return gate.passed ? 'ok' : 'failed';
}

export function baseTestsWord(evidence: Evidence | undefined): string {
  const tests = evidence?.baseTests;
  if (tests === undefined) return '–';
  return tests.source === 'report' ? `${tests.passed}/${tests.total}` : `exit ${tests.exitCode ?? 'none'}`;
}

/** `neutral 2/2, peers 7/8`. */
export function newTestsWord(evidence: Evidence | undefined): string {
  const words = [
    ['neutral', evidence?.neutralTests ? [evidence.neutralTests] : []],
    ['peers', evidence?.peerTests ?? []],
  ] as const;
  const said = words.flatMap(([name, runs]) => {
    const total = runs.reduce((sum, run) => sum + run.total, 0);
    return total === 0 ? [] : [`${name} ${runs.reduce((sum, run) => sum + run.passed, 0)}/${total}`];
  });
  return said.join(', ') || '–';
}

function behaviourWord(evidence: Evidence | undefined): string {
  const found = evidence?.behaviour;
  return found && found.contested > 0 ? `${Math.round(found.agreement * 100)} % alike` : '–';
}

function judgesWord({ judgement }: RunView, alias: Alias): string {
  const found = judgement?.standings.find((one) => one.alias === alias);
  return found ? `${found.wins}-${found.ties}-${found.losses}` : '–';
}

/** The gate that stopped a candidate; undefined for a survivor. */
export const failedGate = (evidence: Evidence | undefined) =>
  evidence?.gates.find((report) => !report.passed);

function verdictWord(view: RunView, standing: Standing): string {
  const { candidate, evidence, ranked } = standing;
  if (standing.chosen) return chosenWord(view);
  const gate = failedGate(evidence);
  if (gate !== undefined) return GATE_WORDS[gate.gate];
  if (candidate.state === 'cancelled') return 'cancelled';
  if (evidence === undefined) return candidate.patch === undefined ? 'left no patch' : 'not examined';
  const broken = evidence.baseTests?.regressions.length ?? 0;
  if (broken > 0) return `breaks ${counted(broken, 'base test')}`;
  const above = view.ranking.find((other) => other.place === (ranked?.place ?? 0) - 1);
  if (candidate.alias === pickOf(view.decision)) return 'first by the evidence';
  if (above?.aheadBy === undefined) return evidence.survivor ? 'survived' : 'not a survivor';
  return `behind ${above.alias} by ${SEPARATOR_WORDS[above.aheadBy]}`;
}

function chosenWord(view: RunView): string {
  if ((view.picks ?? []).length > 0) return 'picked by a person';
  if (leftToPerson(view.decision)) return 'first by the evidence';
  return view.decision?.kind === 'toss-up' ? 'first of a toss-up' : 'chosen';
}

export interface FailingTests {
  /** What they fail, e.g. `base tests`, `tests of B`. */
  readonly of: string;
  /** The first few names; candidates may have chosen them. */
  readonly names: readonly string[];
  readonly more: number;
}

/** An input that was executed, and what came out. */
export interface ShownInput {
  readonly input: string;
  readonly got: string;
  readonly wanted: string;
  /** Who wants `wanted`: `others give`, `a critic expects`. */
  readonly whose: string;
}

/** Why a candidate was not chosen, as plain text. */
export interface Reason {
  readonly alias: Alias;
  readonly because: string;
  readonly failing: readonly FailingTests[];
  readonly inputs: readonly ShownInput[];
  /** The lines that broke a gate. */
  readonly hunk?: string;
}

/** Names shown for each suite that a candidate fails. */
const NAMES_SHOWN = 5;
/** Inputs shown of each kind. */
const INPUTS_SHOWN = 3;

/** One for each candidate that is not chosen; for all of them where nobody stands above the others. */
export const reasons = (view: RunView, everyone = false): readonly Reason[] =>
  standings(view)
    .filter(({ chosen }) => everyone || !chosen)
    .map((standing) => reasonOf(view, standing));

/** What is known against a candidate, or for one that passed everything, where it stands. */
export function reasonOf(view: RunView, { candidate, evidence, ranked, chosen }: Standing): Reason {
  const { alias } = candidate;
  const gate = failedGate(evidence);
  const because = gate?.because ?? ranked?.because ?? candidate.note;
  const passedOver = !chosen && !gate && alias === pickOf(view.decision);
  const suites = [
    failingTests('base tests', evidence?.baseTests?.regressions ?? []),
    failingTests(
      'neutral tests',
      (evidence?.neutralTests?.failing ?? []).map(({ id }) => id),
    ),
    ...(evidence?.peerTests ?? []).flatMap(({ author, failing, guards }) => [
      failingTests(`tests of ${author}`, failing),
      failingTests(`tests of ${author} that pass on the base`, guards?.failing ?? []),
    ]),
  ];
  return {
    alias,
    because: passedOver ? `The evidence put it first; a person picked otherwise. ${because}` : because,
    failing: suites.filter((tests) => tests.names.length > 0),
    inputs: [...differing(evidence), ...confirmedAgainst(view, alias)],
    ...(gate?.hunk ? { hunk: gate.hunk } : {}),
  };
}

const differing = (evidence: Evidence | undefined): readonly ShownInput[] =>
  (evidence?.behaviour?.telling ?? [])
    .slice(0, INPUTS_SHOWN)
    .map(({ input, got, others }) => ({ input, got, wanted: others, whose: 'most others give' }));

/** Defects that critics named and a test confirmed. */
const confirmedAgainst = ({ review = [] }: RunView, alias: Alias): readonly ShownInput[] =>
  review
    .filter((one) => one.alias === alias)
    .flatMap(({ critics }) => critics.flatMap((one) => ('objections' in one ? one.objections : [])))
    .filter(({ fate }) => fate === 'confirmed')
    .slice(0, INPUTS_SHOWN)
    .map(({ input, got, expected }) => ({ input, got, wanted: expected, whose: 'a critic expects' }));

const failingTests = (of: string, names: readonly string[]): FailingTests => ({
  of,
  names: names.slice(0, NAMES_SHOWN),
  more: Math.max(0, names.length - NAMES_SHOWN),
});
