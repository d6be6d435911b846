import { type Evidence, GATES, type GateReport } from '../evidence/index.ts';
import type { Separator, Standing } from './ranked.ts';

interface Neighbour {
  readonly standing: Standing;
  readonly by: Separator;
}

/** Why a candidate stands where it does: the first against the next one, every other against the one above it. */
export function reasonFor(own: Standing, above: Neighbour | undefined, below: Neighbour | undefined): string {
  if (!own.evidence.survivor) return lostAtGate(own.evidence);
  if (above) return behind(own, above);
  if (!below) return 'It is the only candidate, and it passed every gate.';
  return ahead(own, below);
}

/** The first gate that a candidate did not pass. */
export const failedGate = ({ gates }: Evidence): GateReport | undefined =>
  GATES.map((name) => gates.find((gate) => gate.gate === name && !gate.passed)).find(
    (gate) => gate !== undefined,
  );

function lostAtGate(evidence: Evidence): string {
  const gate = failedGate(evidence);
  return gate ? `Failed the gate \`${gate.gate}\`: ${ended(gate.because)}` : 'Was not examined to the end.';
}

function ahead(own: Standing, { standing: other, by }: Neighbour): string {
  const name = other.evidence.alias;
  switch (by) {
    case 'gates':
      return 'It is the only candidate that passed every gate.';
    case 'regressions':
      return `It breaks ${breaks(own)}; ${name} breaks ${breaks(other)}.`;
    case 'peer-tests':
      return `Of the other candidates' tests it ${peers(own)}; ${name} ${peers(other)}.`;
    case 'metrics':
      return `On executed evidence it equals ${name}; it is ahead on metrics: ${figures(own)} against ${figures(other)}.`;
    case 'hash':
      return `Nothing that was measured separates it from ${name}; the hash of the patch put it first.`;
  }
}

function behind(own: Standing, { standing: other, by }: Neighbour): string {
  const name = other.evidence.alias;
  switch (by) {
    case 'gates':
      return `Passed fewer gates than ${name}.`;
    case 'regressions':
      return `Breaks ${breaks(own)}${examples(own)}; ${name} breaks ${breaks(other)}.`;
    case 'peer-tests':
      return `Of the other candidates' tests it ${peers(own)}${failingPeers(own)}; ${name} ${peers(other)}.`;
    case 'metrics':
      return `On executed evidence it equals ${name}; it is behind on metrics: ${figures(own)} against ${figures(other)}.`;
    case 'hash':
      return `Nothing that was measured separates it from ${name}; the hash of the patch put it behind.`;
  }
}

const breaks = ({ regressions }: Standing): string =>
  regressions === 0 ? 'no base test' : `${regressions} base test${regressions === 1 ? '' : 's'}`;

const examples = ({ evidence }: Standing): string => {
  const named = someTests(evidence.baseTests?.regressions ?? []);
  return named ? ` (${named})` : '';
};

function peers({ evidence }: Standing): string {
  const total = evidence.peerTests.reduce((n, one) => n + one.total, 0);
  const passed = evidence.peerTests.reduce((n, one) => n + one.passed, 0);
  return total === 0 ? 'had none to run' : `passes ${passed} of ${total}`;
}

const failingPeers = ({ evidence }: Standing): string => {
  const named = someTests(evidence.peerTests.flatMap((one) => one.failing).sort());
  return named ? ` (fails ${named})` : '';
};

const figures = ({ metrics, evidence }: Standing): string =>
  `${metrics.total.toFixed(1)} (${evidence.productionLines} production line${evidence.productionLines === 1 ? '' : 's'}, ${Math.round(evidence.coderMs / 1000)} s)`;

const MOST_TESTS = 3;
const LONGEST_NAME = 120;

/** A few test names for a sentence, on one line each; the rest is counted. Empty for none. */
export function someTests(ids: readonly string[]): string {
  const named = ids
    .slice(0, MOST_TESTS)
    .map((id) => id.slice(0, LONGEST_NAME).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' '));
  const rest = ids.length - named.length;
  return named.join('; ') + (rest > 0 ? `; and ${rest} more` : '');
}

const ended = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
