import { pickOf } from '../decision/index.ts';
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
  const winner = pickOf(view.decision);
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
  if (standing.chosen) return view.decision?.kind === 'toss-up' ? 'first of a toss-up' : 'chosen';
  const gate = failedGate(evidence);
  if (gate !== undefined) return GATE_WORDS[gate.gate];
  if (candidate.state === 'cancelled') return 'cancelled';
  if (evidence === undefined) return candidate.patch === undefined ? 'left no patch' : 'not examined';
  const broken = evidence.baseTests?.regressions.length ?? 0;
  if (broken > 0) return `breaks ${counted(broken, 'base test')}`;
  const above = view.ranking.find((other) => other.place === (ranked?.place ?? 0) - 1);
  if (above?.aheadBy === undefined) return evidence.survivor ? 'survived' : 'not a survivor';
  return `behind ${above.alias} by ${SEPARATOR_WORDS[above.aheadBy]}`;
}

export interface FailingTests {
  /** What they fail, e.g. `base tests`, `tests of B`. */
  readonly of: string;
  /** The first few names; candidates may have chosen them. */
  readonly names: readonly string[];
  readonly more: number;
}

/** Why a candidate was not chosen, as plain text. */
export interface Reason {
  readonly alias: Alias;
  readonly because: string;
  readonly failing: readonly FailingTests[];
  /** The lines that broke a gate. */
  readonly hunk?: string;
}

/** Names shown for each suite that a candidate fails. */
const NAMES_SHOWN = 5;

export function reasons(view: RunView): readonly Reason[] {
  return standings(view)
    .filter((standing) => !standing.chosen)
    .map(({ candidate, evidence, ranked }) => {
      const gate = failedGate(evidence);
      const because = gate?.because ?? ranked?.because ?? candidate.note;
      const failing = [
        failingTests('base tests', evidence?.baseTests?.regressions ?? []),
        failingTests(
          'neutral tests',
          (evidence?.neutralTests?.failing ?? []).map(({ id }) => id),
        ),
        ...(evidence?.peerTests ?? []).map((run) => failingTests(`tests of ${run.author}`, run.failing)),
      ].filter((tests) => tests.names.length > 0);
      return { alias: candidate.alias, because, failing, ...(gate?.hunk ? { hunk: gate.hunk } : {}) };
    });
}

const failingTests = (of: string, names: readonly string[]): FailingTests => ({
  of,
  names: names.slice(0, NAMES_SHOWN),
  more: Math.max(0, names.length - NAMES_SHOWN),
});
