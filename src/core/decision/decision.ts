import { type Evidence, GATES, type GateName } from '../evidence/index.ts';
import type { Alias } from '../model/index.ts';
import { failedGate, type Ranked, type Separator, someTests } from '../ranking/index.ts';

/** What we do about the evidence. `none` is a first-class result: no pull request is opened. */
export type Decision =
  | {
      readonly kind: 'winner';
      readonly alias: Alias;
      readonly confidence: 'clear' | 'likely';
      readonly decidedBy: Separator;
      readonly because: string;
    }
  | { readonly kind: 'none'; readonly decidedBy: Separator; readonly because: string };

/** How far ahead by the others' tests is clear, not likely. Our default, tune on dev data. */
const CLEAR_MARGIN = 0.15;

/**
 * Decides from a ranking of the same evidence. Nobody wins where no candidate passed every gate, nor where even the
 * best one breaks a test that passes on the base: whether that test should change is a person's question.
 */
export function decide(ranking: readonly Ranked[], evidence: readonly Evidence[]): Decision {
  const survivors = ranking.filter((one) => one.survivor);
  const [best, next] = survivors;
  const winning = best && evidence.find((one) => one.alias === best.alias);
  if (!best || !winning)
    return { kind: 'none', decidedBy: 'gates', because: nobodyPassed(ranking, evidence) };
  if (best.regressions > 0) {
    return { kind: 'none', decidedBy: 'regressions', because: allBreak(best, winning, survivors.length) };
  }
  const decidedBy = next ? (best.aheadBy ?? 'hash') : 'gates';
  return {
    kind: 'winner',
    alias: best.alias,
    confidence: isClear(winning, best, next, decidedBy) ? 'clear' : 'likely',
    decidedBy,
    because: whyWinner(best, winning, next, decidedBy),
  };
}

/** Exit codes alone, and metrics alone, never make it clear. */
function isClear(winning: Evidence, best: Ranked, next: Ranked | undefined, decidedBy: Separator): boolean {
  const tested = winning.baseTests?.source === 'report' && winning.baseTests.passed > 0;
  if (!tested) return false;
  switch (decidedBy) {
    // Nobody else was there to question it: its own new tests are the only sign that anything is mended.
    case 'gates':
      return winning.addedTests > 0 || (winning.baseTests?.fixed.length ?? 0) > 0;
    case 'regressions':
      return true;
    case 'peer-tests':
      return next !== undefined && best.peerShare - next.peerShare >= CLEAR_MARGIN - 1e-9;
    case 'metrics':
    case 'hash':
      return false;
  }
}

function whyWinner(best: Ranked, winning: Evidence, next: Ranked | undefined, decidedBy: Separator): string {
  const base = `${best.alias} ${baseClause(winning)}`;
  if (!next) return `${base} and is the only candidate that passed every gate.`;
  switch (decidedBy) {
    case 'gates':
      return `${base}.`;
    case 'regressions':
      return `${base}; ${next.alias} breaks ${next.regressions}.`;
    case 'peer-tests':
      return `${base} and passes more of the other candidates' tests than ${next.alias} (${share(best)} against ${share(next)}).`;
    case 'metrics':
      return `${base}; executed evidence does not separate it from ${next.alias}, metrics do (${best.metrics.total.toFixed(1)} against ${next.metrics.total.toFixed(1)}).`;
    case 'hash':
      return `${base}; nothing that was measured separates it from ${next.alias}, so the hash of the patch decided.`;
  }
}

const share = ({ peerShare }: Ranked): string => peerShare.toFixed(2);

function baseClause({ baseTests }: Evidence): string {
  if (!baseTests) return 'passed every gate';
  if (baseTests.source === 'exit-code') return 'breaks no base test as far as the exit code tells';
  return `breaks no base test (${baseTests.passed} of ${baseTests.total} pass)`;
}

/** Names the gate that stopped most candidates; of several, the earliest. */
function nobodyPassed(ranking: readonly Ranked[], evidence: readonly Evidence[]): string {
  const stopped = ranking.flatMap(({ alias }) => {
    const own = evidence.find((one) => one.alias === alias);
    const gate = own && failedGate(own);
    return gate ? [{ alias, gate }] : [];
  });
  const commonest = mostFrequent(stopped.map(({ gate }) => gate.gate));
  if (commonest === null) return 'There was no candidate to decide on.';
  const those = stopped.filter(({ gate }) => gate.gate === commonest);
  const aliases = those.map(({ alias }) => alias).sort();
  const example = those.find(({ alias }) => alias === aliases[0]) as (typeof those)[number];
  const who =
    ranking.length === 1
      ? 'The candidate did not pass every gate'
      : `None of the ${ranking.length} candidates passed every gate`;
  return `${who}; most often it was \`${commonest}\` (${aliases.join(', ')}). ${example.alias}: ${example.gate.because}`;
}

function mostFrequent(names: readonly GateName[]): GateName | null {
  let best: GateName | null = null;
  const times = (name: GateName) => names.filter((one) => one === name).length;
  for (const name of GATES) if (times(name) > (best ? times(best) : 0)) best = name;
  return best;
}

function allBreak(best: Ranked, winning: Evidence, survivors: number): string {
  const broken = winning.baseTests?.regressions ?? [];
  const who =
    survivors === 1
      ? `${best.alias}, the only candidate that passed every gate,`
      : `Every candidate that passed the gates breaks base tests; ${best.alias}, with the fewest,`;
  const tests = broken.length === 1 ? '1 test that passes' : `${broken.length} tests that pass`;
  return `${who} breaks ${tests} on the base: ${someTests(broken)}. A person must judge whether the tests or the patches are wrong.`;
}
