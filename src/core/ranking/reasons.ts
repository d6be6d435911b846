import {
  type Evidence,
  failingNames,
  GATES,
  type GateReport,
  NO_INDEPENDENT_TESTS,
} from '../evidence/index.ts';
import { uniqueSorted } from '../model/index.ts';
import type { RankedEvidence, Separator } from './odds.ts';
import { isOverruledBy, isSurpassedBy } from './strategies.ts';

interface Neighbour {
  readonly standing: RankedEvidence;
  readonly by: Separator;
}

/** The reason for a candidate's place: the first is compared with the next, every other with the one above it. */
export function reasonFor(
  own: RankedEvidence,
  above: Neighbour | undefined,
  below: Neighbour | undefined,
): string {
  if (!own.evidence.survivor) return failedGateReason(own.evidence);
  if (above) return behindReason(own, above);
  const broken = own.evidence.baseTests?.regressions.length ?? 0;
  if (broken > 0)
    return `It passed every gate, but breaks ${broken === 1 ? '1 existing test' : `${broken} existing tests`}.`;
  if (!below) return 'It is the only candidate, and it passed every gate.';
  if (below.by === 'gates') return 'It is the only candidate that passed every gate.';
  return `It ${comparisonClause(below.by, own, below.standing)}.`;
}

/** The first gate that a candidate failed. */
export const failedGate = ({ gates }: Evidence): GateReport | undefined =>
  GATES.map((name) => gates.find((gate) => gate.gate === name && !gate.passed)).find(
    (gate) => gate !== undefined,
  );

function failedGateReason(evidence: Evidence): string {
  const gate = failedGate(evidence);
  return gate
    ? `It failed the gate \`${gate.gate}\`: ${withFullStop(gate.because)}`
    : 'It was not examined to the end.';
}

function behindReason(own: RankedEvidence, { standing: other, by }: Neighbour): string {
  const name = other.evidence.alias;
  switch (by) {
    case 'gates':
      return `It passed fewer gates than ${name}.`;
    case 'alike':
      return `Its source changes are the same as those of ${name}.`;
    case 'tie':
      return `It ${comparisonClause(by, own, other)}.`;
    case 'regressions':
      return `It breaks ${regressionsText(own)}; ${name} breaks ${other.regressions === 0 ? 'none' : other.regressions}.`;
    case 'independent':
      return 'It fails independent tests that a candidate above it passes, and passes none that this one fails.';
    default:
      return `${name} ${comparisonClause(by, other, own, 'this one')}.`;
  }
}

/** The parts of a candidate that are described. */
export type Compared = Pick<
  RankedEvidence,
  'evidence' | 'fixed' | 'regressions' | 'sameSet' | 'signals' | 'metrics' | 'votes' | 'weighted'
> &
  Partial<Pick<RankedEvidence, 'judgeStrength'>>;

/** What `ahead` has that `behind` lacks, as a clause with the subject `ahead`; `name` is the name of the other. */
export function comparisonClause(
  by: Separator,
  ahead: Compared,
  behind: Compared,
  name: string = behind.evidence.alias,
): string {
  switch (by) {
    case 'gates':
      return `passed more gates than ${name}`;
    case 'regressions':
      return `breaks ${regressionsText(ahead)}; ${name} breaks ${regressionsText(behind)}`;
    case 'objections':
      if (!isOverruledBy(behind.evidence, ahead.evidence))
        return `ranks above ${name}, which fails a critic's test that another candidate passes`;
      return `passes a critic's test that ${name} fails, and every independent test that ${name} passes`;
    case 'fixed':
      return `makes ${ahead.fixed} of the existing tests pass that fail on the base commit, ${name} ${behind.fixed}`;
    case 'independent':
      if (!isSurpassedBy(behind.evidence, ahead.evidence))
        return `ranks above ${name}, which fails an independent test that another candidate passes`;
      return `passes every independent test that ${name} passes, and more: ${testsText(ahead, behind, name)}`;
    case 'tests':
      if (ahead.evidence.mutants)
        return `has the tests that catch more: ${mutantsText(ahead)}, ${name} ${mutantsText(behind)}`;
      return `passes more tests: ${testsText(ahead, behind, name)}`;
    case 'behaviour':
      return `is supported more than ${name} by how the other candidates behave on derived inputs${probesText(ahead)}`;
    case 'types':
      return `adds no type errors, unlike ${name}`;
    case 'alike':
      return `makes the same source changes as ${name}`;
    case 'tie':
      return `is tied with ${name}: ${executedClause(ahead, behind, name)}`;
    default:
      return `${preferenceClause(by, ahead, behind, name)}; ${executedClause(ahead, behind, name)}`;
  }
}

type Preference = 'agreement' | 'judges' | 'vote' | 'score' | 'metrics' | 'weights';

/** Preferences that are not based on execution. */
function preferenceClause(by: Preference, ahead: Compared, behind: Compared, name: string): string {
  switch (by) {
    case 'agreement': {
      const [own, other] = [ahead, behind].map(({ signals }) => percent(signals.agreement));
      return own === other
        ? `is slightly more similar to what the others wrote than ${name} (both ${own})`
        : `is more similar to what the others wrote than ${name} (${own} against ${other})`;
    }
    case 'judges':
      return behind.judgeStrength === null
        ? `was compared by blind judges, and ${name} was not`
        : `was preferred to ${name} by blind judges`;
    case 'vote':
      return `was written by ${familiesText(ahead)}, ${name} by ${familiesText(behind)}`;
    case 'score':
      return `has a patch score of ${scoreText(ahead)}, ${name} of ${scoreText(behind)}`;
    case 'metrics':
      return `has a higher total of metrics: ${metricsText(ahead)} against ${metricsText(behind)}`;
    case 'weights':
      return `has a higher weighted mean of all scores: ${meanText(ahead)} against ${meanText(behind)}`;
  }
}

/** The difference in execution results, whatever else decided. */
function executedClause(own: Compared, other: Compared, name: string): string {
  const [mine, theirs] = [executedFacts(own), executedFacts(other)];
  const differing = mine.flatMap((fact, at) =>
    fact === theirs[at] ? [] : [`${fact}, ${name} ${theirs[at]}`],
  );
  if (differing.length > 0) return `executed: ${differing.join('; ')}`;
  if (failingIds(own) !== failingIds(other))
    return 'executed: they pass equally many independent tests, but not the same ones';
  const behaviour = behaviourClause(own, other);
  return behaviour === ''
    ? 'all executed measurements are equal'
    : `all executed tests have equal results, and ${behaviour}`;
}

/** How their behaviour on derived inputs differs, which did not decide; empty if it does not. */
function behaviourClause(own: Compared, other: Compared): string {
  const [mine, theirs] = [own.evidence.behaviour, other.evidence.behaviour];
  if ((mine === undefined) !== (theirs === undefined))
    return 'derived inputs gave results on only one of them';
  if (own.signals.behaviour !== other.signals.behaviour)
    return 'the behaviour on derived inputs decides little';
  return mine?.group === theirs?.group
    ? ''
    : 'their behaviour on derived inputs differs, which favours neither';
}

const failingIds = ({ evidence }: Compared): string =>
  uniqueSorted((evidence.independentTests?.failing ?? []).map(({ id }) => id)).join('\0');

const executedFacts = (one: Compared): readonly string[] => [
  `${one.fixed} existing tests fixed`,
  `${countText(one.evidence.independentTests)} independent tests`,
  pooledText(pooled(one)),
];

const regressionsText = ({ regressions }: Compared): string =>
  regressions === 0 ? 'no existing test' : `${regressions} existing test${regressions === 1 ? '' : 's'}`;

interface Count {
  readonly passed: number;
  readonly total: number;
}

const countText = (count: Count | undefined): string =>
  count && count.total > 0 ? `${count.passed} of ${count.total}` : 'no';

/** Tests added by candidates, over the same set for all; an author passes its own. */
const pooled = ({ sameSet: { confirmed, unconfirmed } }: Compared): Count => ({
  passed: confirmed.passed + unconfirmed.passed,
  total: confirmed.total + unconfirmed.total,
});

/** Says whose tests are counted: columns of tables count those of the other candidates only. */
const POOLED = 'tests of all candidates (its own included)';
const pooledText = (count: Count): string =>
  count.total > 0 ? `${countText(count)} ${POOLED}` : 'no tests of candidates';

/** `2 of 3 independent tests and 4 of 4 tests of all candidates (its own included), B 1 of 3 and 2 of 4`. */
function testsText(ahead: Compared, behind: Compared, name: string): string {
  const [own, other] = [countsOfTests(ahead), countsOfTests(behind)];
  const first = own.map(({ count, of }) => `${countText(count)} ${of}`).join(' and ') || 'none';
  const isAlike = own.map(({ of }) => of).join() === other.map(({ of }) => of).join();
  const second = other.map(({ count, of }) => (isAlike ? countText(count) : `${countText(count)} ${of}`));
  return `${first}, ${name} ${second.join(' and ') || 'none'}`;
}

const countsOfTests = (one: Compared) =>
  [
    { count: one.evidence.independentTests, of: 'independent tests' },
    { count: pooled(one), of: POOLED },
  ].filter(({ count }) => count !== undefined && count.total > 0);

/** `14 of 20 mutants of the code`. */
const mutantsText = ({ evidence: { mutants } }: Compared): string =>
  mutants ? `${mutants.caught} of ${mutants.total} mutants of the code` : 'none';

/** What executing showed against a candidate, as sentences, for readers of one line only; empty for nothing. */
export function executedFaults({ baseTests, peerTests, independentTests, behaviour }: Evidence): string {
  const failing = someTests([
    ...(baseTests?.regressions ?? []),
    ...failingNames(independentTests ?? NO_INDEPENDENT_TESTS),
    ...peerTests.flatMap((one) => one.failing).toSorted(),
  ]);
  const [input] = behaviour?.differences ?? [];
  return [
    ...(failing === '' ? [] : [`It fails ${failing}.`]),
    ...(input
      ? [
          `For ${shownName(input.input)} it returns ${shownName(input.got)}, most others that pass the given tests ${shownName(input.others)}.`,
        ]
      : []),
  ].join(' ');
}

const probesText = ({ evidence: { behaviour } }: Compared): string =>
  behaviour ? ` (${behaviour.contested} of ${behaviour.observed} show a difference)` : '';

const percent = (share: number | null): string => (share === null ? 'none' : `${Math.round(share * 100)}%`);
const familiesText = ({ votes }: Compared): string => `${votes} model ${votes === 1 ? 'family' : 'families'}`;
const scoreText = ({ evidence }: Compared): string => String(evidence.staticScore?.score ?? 0);
const meanText = ({ weighted }: Compared): string => (weighted ?? 0).toFixed(2);

const metricsText = ({ metrics, evidence }: Compared): string =>
  `${metrics.total.toFixed(1)} (${evidence.productionLines} production line${evidence.productionLines === 1 ? '' : 's'}, ${Math.round(evidence.coderMs / 1000)} s)`;

const MAX_TESTS_SHOWN = 3;
const MAX_SHOWN_NAME_CHARS = 120;

/** A few test names for a sentence, on one line; the rest is counted. Empty for none. */
function someTests(ids: readonly string[]): string {
  const named = ids.slice(0, MAX_TESTS_SHOWN).map(shownName);
  const rest = ids.length - named.length;
  return named.join('; ') + (rest > 0 ? `; and ${rest} more` : '');
}

const shownName = (text: string): string =>
  text.slice(0, MAX_SHOWN_NAME_CHARS).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');

const withFullStop = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** Maximum test names that are listed; the rest is counted. Default. */
const MAX_FAILING_TESTS = 40;
/** Maximum characters of one name. */
const MAX_TEST_NAME_CHARS = 300;
/** Maximum characters of a gate's sentence, and of its lines or output. Defaults. */
const MAX_SENTENCE_CHARS = 2_000;
const MAX_HUNK_CHARS = 6_000;

/**
 * What a candidate's coder sees in a repair: the gates that it failed, each with the lines or output in question, and
 * the base tests that it breaks. Tests by others are left out: a patch fixed against them could no longer be measured
 * by them, and they would reveal the others' work.
 */
export function whatFailed({ gates, baseTests }: Evidence): readonly string[] {
  const failed = gates
    .filter((gate) => !gate.passed)
    .map(({ gate, because, hunk }) =>
      [
        `Gate ${gate}: ${because.slice(0, MAX_SENTENCE_CHARS)}`,
        ...(hunk ? [hunk.slice(0, MAX_HUNK_CHARS)] : []),
      ].join('\n'),
    );
  const broken = baseTests?.regressions ?? [];
  return broken.length === 0 ? failed : [...failed, brokenTests(broken)];
}

function brokenTests(broken: readonly string[]): string {
  const named = broken.slice(0, MAX_FAILING_TESTS).map((id) => `- ${id.slice(0, MAX_TEST_NAME_CHARS)}`);
  const rest = broken.length - named.length;
  return [
    'Tests that pass on the base commit and do not pass with this patch:',
    ...named,
    ...(rest > 0 ? [`and ${rest} more`] : []),
  ].join('\n');
}

/** The end of a sentence where no input shows a difference from the base; empty otherwise. */
export const unseenChange = ({ alias, behaviour }: Evidence): string =>
  behaviour && behaviour.observed > 0 && behaviour.asBase === 1
    ? `, and ${alias} behaves like the base commit on all ${behaviour.observed} inputs that were tried`
    : '';
