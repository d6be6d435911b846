import type { Evidence } from '../evidence/index.ts';
import type { Ranked } from '../ranking/index.ts';

export interface Standing {
  readonly best: Ranked;
  readonly winning: Evidence;
  /** Survivors that made another change, best first. */
  readonly rivals: readonly Ranked[];
  readonly evidence: readonly Evidence[];
}

/**
 * A straight line in log-odds, fitted on picks whose outcome is known, and rounded; docs/selection.md says how well it
 * ranks right picks before wrong ones and how often each word was right. `alone` (no rival is left that breaks
 * nothing), `unmended` (nothing that was executed shows that the task is done) and `unmet` (nobody meets an example of the
 * issue) are our own: of these there is too little data.
 */
const LOG_ODDS = {
  start: 0.9,
  alone: 1.3,
  perRivals: -0.7,
  perBehaviour: 0.6,
  unmended: -1.5,
  unmet: -2.5,
} as const;
/** Rivals all together as far behind as this, or further, say no more. */
const LEAST_RIVALS = -2.5;
const MOST_RIVALS = 1.5;
const BEHAVIOUR = { least: -1, most: 3, unasked: 1 } as const;

/**
 * Estimated chance that the best survivor is right, in [0, 1]: by the odds of all its rivals together, and by how far its
 * behaviour is ahead of those who behave otherwise.
 */
export function chanceOf(standing: Standing): number {
  const { best, winning, rivals } = standing;
  const sound = rivals.filter((one) => one.regressions === 0);
  const mended = isMended(winning);
  const alone = mended ? LOG_ODDS.alone : 0;
  const compared =
    sound.length === 0
      ? alone
      : LOG_ODDS.perRivals * against(best, sound) + LOG_ODDS.perBehaviour * behaviourLead(standing, sound);
  const score =
    LOG_ODDS.start +
    compared +
    (mended ? 0 : LOG_ODDS.unmended) +
    ((winning.unmet ?? []).length > 0 ? LOG_ODDS.unmet : 0);
  return Math.round(1000 / (1 + Math.exp(-score))) / 1000;
}

/** Does any executed test show that something is mended: the task's own, the base's, or a new one? */
export const isMended = ({ neutralTests, baseTests, peerTests, provenTests }: Evidence): boolean =>
  (neutralTests?.passed ?? 0) > 0 ||
  (baseTests?.fixed.length ?? 0) > 0 ||
  (provenTests ?? 0) > 0 ||
  peerTests.some(({ passed }) => passed > 0);

/** Logarithm of the odds of all rivals together against the best. */
function against(best: Ranked, rivals: readonly Ranked[]): number {
  const odds = rivals.reduce(
    (sum, one) => sum + Math.exp(one.support - best.support),
    Math.exp(LEAST_RIVALS),
  );
  return within(Math.log(odds), LEAST_RIVALS, MOST_RIVALS);
}

/** Logarithm of the odds, by behaviour alone, against the best of those who behave otherwise. */
function behaviourLead({ best, evidence }: Standing, rivals: readonly Ranked[]): number {
  const groupOf = ({ alias }: Ranked) => evidence.find((one) => one.alias === alias)?.behaviour?.group;
  const others = rivals.filter((one) => groupOf(one) !== groupOf(best));
  const own = best.signals.behaviour;
  if (own === null || others.length === 0) return BEHAVIOUR.unasked;
  const lead = own - Math.max(...others.map(({ signals }) => signals.behaviour ?? 0));
  return within(lead, BEHAVIOUR.least, BEHAVIOUR.most);
}

const within = (value: number, least: number, most: number): number => Math.max(least, Math.min(most, value));
