import { type Evidence, GATES, type GateReport } from '../evidence/index.ts';
import { type RankedEvidence, type Separator, sortedSum } from './odds.ts';

interface Neighbour {
  readonly standing: RankedEvidence;
  readonly by: Separator;
}

/** Why a candidate stands where it does: the first against the next one, every other against the one above it. */
export function reasonFor(
  own: RankedEvidence,
  above: Neighbour | undefined,
  below: Neighbour | undefined,
): string {
  if (!own.evidence.survivor) return failedGateReason(own.evidence);
  if (above) return behindReason(own, above);
  if (!below) return 'It is the only candidate, and it passed every gate.';
  return aheadReason(own, below);
}

/** The first gate that a candidate did not pass. */
export const failedGate = ({ gates }: Evidence): GateReport | undefined =>
  GATES.map((name) => gates.find((gate) => gate.gate === name && !gate.passed)).find(
    (gate) => gate !== undefined,
  );

function failedGateReason(evidence: Evidence): string {
  const gate = failedGate(evidence);
  return gate
    ? `Failed the gate \`${gate.gate}\`: ${withFullStop(gate.because)}`
    : 'Was not examined to the end.';
}

function aheadReason(own: RankedEvidence, { standing: other, by }: Neighbour): string {
  const name = other.evidence.alias;
  switch (by) {
    case 'gates':
      return 'It is the only candidate that passed every gate.';
    case 'regressions':
      return `It breaks ${regressionsText(own)}; ${name} breaks ${regressionsText(other)}.`;
    case 'objections':
      return `It passes a critic's test that ${name} fails, and every independent test that ${name} passes.`;
    case 'tests':
      return `Of the tests that it did not write it ${testsText(own)}; ${name} ${testsText(other)}.`;
    case 'behaviour':
      return `On inputs that tell the candidates apart what the others do speaks for it rather than for ${name}${probesText(own)}.`;
    case 'agreement':
      return `Execution does not separate it from ${name}; its changes are closer to what the others wrote (${percent(own.signals.agreement)} against ${percent(other.signals.agreement)}).`;
    case 'judges':
      return `Execution does not separate it from ${name}; blind judges preferred it.`;
    case 'vote':
      return `Execution does not separate it from ${name}; ${familiesText(own)} wrote the same change, ${name}'s was written by ${familiesText(other)}.`;
    case 'score':
      return `Execution does not separate it from ${name}; the form of its patch scores ${scoreText(own)} against ${scoreText(other)}.`;
    case 'metrics':
      return `Execution does not separate it from ${name}; it is ahead on metrics: ${metricsText(own)} against ${metricsText(other)}.`;
    case 'hash':
      return `Nothing that was measured separates it from ${name}; the hash of the patch put it first.`;
  }
}

function behindReason(own: RankedEvidence, { standing: other, by }: Neighbour): string {
  const name = other.evidence.alias;
  switch (by) {
    case 'gates':
      return `Passed fewer gates than ${name}.`;
    case 'regressions':
      return `Breaks ${regressionsText(own)}${regressionNames(own)}; ${name} breaks ${regressionsText(other)}.`;
    case 'objections':
      return `Fails a critic's test that ${name} passes; ${name} also passes every other independent test that it passes${failingTests(own)}.`;
    case 'tests':
      return `Of the tests that it did not write it ${testsText(own)}${failingTests(own)}; ${name} ${testsText(other)}.`;
    case 'behaviour':
      return `On inputs that tell the candidates apart what the others do speaks for ${name} rather than for it${differenceText(own)}.`;
    case 'agreement':
      return `Execution does not separate it from ${name}; its changes are less like what the others wrote (${percent(own.signals.agreement)} against ${percent(other.signals.agreement)}).`;
    case 'judges':
      return `Execution does not separate it from ${name}; blind judges preferred ${name}.`;
    case 'vote':
      return `Execution does not separate it from ${name}, whose change was written by ${familiesText(other)}; this one by ${familiesText(own)}.`;
    case 'score':
      return `Execution does not separate it from ${name}; the form of its patch scores ${scoreText(own)} against ${scoreText(other)}.`;
    case 'metrics':
      return `Execution does not separate it from ${name}; it is behind on metrics: ${metricsText(own)} against ${metricsText(other)}.`;
    case 'hash':
      return `Nothing that was measured separates it from ${name}; the hash of the patch put it behind.`;
  }
}

const regressionsText = ({ regressions }: RankedEvidence): string =>
  regressions === 0 ? 'no base test' : `${regressions} base test${regressions === 1 ? '' : 's'}`;

const regressionNames = ({ evidence }: RankedEvidence): string => {
  const named = someTests(evidence.baseTests?.regressions ?? []);
  return named ? ` (${named})` : '';
};

function testsText({ evidence: { peerTests, independentTests } }: RankedEvidence): string {
  const all = independentTests ? [...peerTests, independentTests] : peerTests;
  const total = sortedSum(all.map((one) => one.total));
  return total === 0 ? 'had none to run' : `passes ${sortedSum(all.map((one) => one.passed))} of ${total}`;
}

const failingTests = ({ evidence: { peerTests, independentTests } }: RankedEvidence): string => {
  const named = someTests([
    ...(independentTests?.failing ?? []).map(({ id }) => id),
    ...peerTests.flatMap((one) => one.failing).toSorted(),
  ]);
  return named ? ` (fails ${named})` : '';
};

const probesText = ({ evidence: { behaviour } }: RankedEvidence): string =>
  behaviour ? ` (${behaviour.contested} of ${behaviour.observed})` : '';

function differenceText({ evidence: { behaviour } }: RankedEvidence): string {
  const [first] = behaviour?.differences ?? [];
  return first
    ? `: ${shownName(first.input)} gives ${shownName(first.got)}, others ${shownName(first.others)}`
    : '';
}

const percent = (share: number | null): string => (share === null ? 'none' : `${Math.round(share * 100)}%`);
const familiesText = ({ votes }: RankedEvidence): string =>
  `${votes} model ${votes === 1 ? 'family' : 'families'}`;
const scoreText = ({ evidence }: RankedEvidence): string => String(evidence.staticScore ?? 0);

const metricsText = ({ metrics, evidence }: RankedEvidence): string =>
  `${metrics.total.toFixed(1)} (${evidence.productionLines} production line${evidence.productionLines === 1 ? '' : 's'}, ${Math.round(evidence.coderMs / 1000)} s)`;

const MAX_TESTS_SHOWN = 3;
const MAX_SHOWN_NAME_CHARS = 120;

/** A few test names for a sentence, on one line each; the rest is counted. Empty for none. */
export function someTests(ids: readonly string[]): string {
  const named = ids.slice(0, MAX_TESTS_SHOWN).map(shownName);
  const rest = ids.length - named.length;
  return named.join('; ') + (rest > 0 ? `; and ${rest} more` : '');
}

const shownName = (text: string): string =>
  text.slice(0, MAX_SHOWN_NAME_CHARS).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');

const withFullStop = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** Names of tests that are listed; the rest is counted. Our default. */
const MAX_FAILING_TESTS = 40;
/** Characters of one name. */
const MAX_TEST_NAME_CHARS = 300;
/** Characters of a gate's sentence, and of the lines or the output it names. Our defaults. */
const MAX_SENTENCE_CHARS = 2_000;
const MAX_HUNK_CHARS = 6_000;

/**
 * What a candidate's coder is shown in a repair: the gates it failed, each with the lines or the output in question, and
 * the base tests it breaks. Tests that others wrote are left out: a patch fixed against them could no longer be measured
 * by them, and the others' work would be told.
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
