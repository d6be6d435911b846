import { comparePatches, type Flaw, type PatchLikeness } from '../likeness/index.ts';
import { byCodeUnits, counted } from '../model/index.ts';
import { readDiff } from '../patches/index.ts';
import type { SelectAnswer, SelectCandidate, SelectRequest } from './select-request.ts';

/**
 * Answers a request from the patch texts and signals alone, without execution. A candidate's position and id have no
 * effect, unless two patches are identical. `alwaysPick`: picks the first of the ranking even without evidence for it.
 */
export function selectStored(
  request: StoredRequest,
  { alwaysPick = false }: { readonly alwaysPick?: boolean } = {},
): SelectAnswer {
  const placed = rankStored(request.candidates);
  const [best] = placed;
  const decidedBy =
    best === undefined || (!alwaysPick && !isPickablePatch(best))
      ? 'none'
      : separatorOf(best, rivalOf(placed), placed.length);
  const abstains = best === undefined || decidedBy === 'none' || (!alwaysPick && decidedBy === 'tie');
  return {
    id: request.id,
    pick: abstains ? null : best.id,
    confidence: abstains ? 0 : confidenceOf(placed),
    ranking: placed.map((one) => ({
      id: one.id,
      score: scoreOf(one),
      because: rankReason(one, placed.length - 1),
    })),
    decidedBy,
    because: decisionReason(decidedBy, placed),
  };
}

function rankStored(candidates: readonly SelectCandidate[]): readonly RankedPatch[] {
  const pool = comparePatches(
    candidates.map(({ id, patch, family, signals }) => ({
      id,
      text: patch,
      family: family ?? undefined,
      applies: signals?.applied ?? undefined,
    })),
  );
  return candidates
    .map(({ id, patch, signals }, i) => ({
      id,
      patch,
      agreement: pool[i] as PatchLikeness,
      disqualification: disqualificationOf(signals),
      testsKept: signals?.p2p_ok === true,
    }))
    .sort(
      (a, b) =>
        DISQUALIFICATION_ORDER[a.disqualification] - DISQUALIFICATION_ORDER[b.disqualification] ||
        b.agreement.score - a.agreement.score ||
        b.agreement.share - a.agreement.share ||
        a.agreement.classIndex - b.agreement.classIndex ||
        byCodeUnits(a.patch, b.patch) ||
        byCodeUnits(a.id, b.id),
    );
}

const DISQUALIFICATION_ORDER: Readonly<Record<RankedPatch['disqualification'], number>> = {
  nothing: 0,
  'breaks-tests': 1,
  'does-not-apply': 2,
};

const disqualificationOf = (signals: SelectCandidate['signals']): RankedPatch['disqualification'] => {
  if (signals?.applied === false) return 'does-not-apply';
  return signals?.p2p_ok === false ? 'breaks-tests' : 'nothing';
};

const scoreOf = ({ disqualification, agreement }: RankedPatch): number =>
  disqualification === 'nothing' ? agreement.score : 0;

function separatorOf(best: RankedPatch, rival: RankedPatch | undefined, candidates: number): DecidedBy {
  if (candidates === 1) return 'only-candidate';
  // All candidates make the same change, so the first represents them.
  if (!rival) return 'agreement';
  if (best.disqualification !== rival.disqualification) return 'signals';
  return best.agreement.score === rival.agreement.score ? 'tie' : 'agreement';
}

/**
 * Log-odds that a pick without execution is right: linear in its score, with a bonus if its tests are known to pass.
 * Fitted on patches with known outcome, of which 23% were right, and rounded. On held-out repositories it ranked
 * right picks above wrong ones in 77% of pairs.
 */
const UNEXECUTED_LOG_ODDS = { start: -3.2, perScore: 4, testsKept: 1 } as const;
/** For a single candidate only the base rate of right patches is known. */
const LONE_LOG_ODDS = -1.2;

/** The probability that the first of the ranking is right, 0 to 1. */
function confidenceOf([best, ...others]: readonly RankedPatch[]): number {
  if (!best || !isPickablePatch(best)) return 0;
  const agreed =
    others.length === 0
      ? LONE_LOG_ODDS
      : UNEXECUTED_LOG_ODDS.start + UNEXECUTED_LOG_ODDS.perScore * best.agreement.score;
  const odds = agreed + (best.testsKept ? UNEXECUTED_LOG_ODDS.testsKept : 0);
  return Math.round(1_000 / (1 + Math.exp(-odds))) / 1_000;
}

/** The parts of a request that are used without execution. */
type StoredRequest = Pick<SelectRequest, 'id' | 'candidates'>;

/** What separated the first candidate from the second; `none`: no candidate was picked. */
type DecidedBy = 'none' | 'only-candidate' | 'signals' | 'agreement' | 'tie';

/** A candidate with its place and its ranking criteria. */
interface RankedPatch {
  readonly id: string;
  readonly patch: string;
  readonly agreement: PatchLikeness;
  /** Reasons against it according to the signals. */
  readonly disqualification: 'nothing' | 'breaks-tests' | 'does-not-apply';
  /** According to the signals it breaks no test. */
  readonly testsKept: boolean;
}

/** The best candidate of another class. Candidates of the first one's class need no separation from it. */
const rivalOf = ([best, ...others]: readonly RankedPatch[]): RankedPatch | undefined =>
  others.find((other) => other.agreement.classIndex !== best?.agreement.classIndex);

/** A patch that does not apply, breaks tests or has no effect is picked only if a pick is required. */
const isPickablePatch = ({ disqualification, agreement }: RankedPatch): boolean =>
  disqualification === 'nothing' && !agreement.flaws.includes('no-effective-change');

const DISQUALIFICATION_TEXT: Readonly<Record<Exclude<RankedPatch['disqualification'], 'nothing'>, string>> = {
  'does-not-apply': 'It does not apply to the base.',
  'breaks-tests': 'It breaks tests that pass on the base.',
};

const FLAW_SENTENCES: Readonly<Record<Exclude<Flaw, 'does-not-apply'>, string>> = {
  'no-source-change': 'It changes no source file.',
  'no-effective-change': 'It changes only comments and formatting.',
  'unbalanced-brackets': 'One of its hunks has unbalanced brackets.',
  'removes-tests': 'It removes many lines from existing tests.',
  'scratch-files': 'It leaves scratch files behind.',
};

/** Why a patch has no change that can be read; null if it has one. It was perhaps cut off or escaped wrongly. */
function unreadText({ patch, agreement }: RankedPatch): string | null {
  if (!agreement.flaws.includes('no-effective-change')) return null;
  if (patch.trim() === '') return 'Its patch is empty.';
  const hasChange = readDiff(patch).some(
    ({ hunks, from, created, deleted, binary }) =>
      hunks.some(({ lines }) => lines.some(({ kind }) => kind !== 'context')) ||
      created ||
      deleted ||
      binary ||
      from !== null,
  );
  return hasChange || /^new mode \d/m.test(patch) ? null : 'Its patch cannot be read as a diff.';
}

/** The reason for a candidate's place. */
function rankReason(one: RankedPatch, others: number): string {
  if (one.disqualification !== 'nothing') return DISQUALIFICATION_TEXT[one.disqualification];
  const unread = unreadText(one);
  if (unread !== null) return unread;
  const { flaws } = one.agreement;
  const sentences = [
    others === 0 ? 'There is no other candidate to compare it with.' : agreementText(one, others),
    ...sameChangeText(one),
    ...flaws.flatMap((flaw) => (flaw === 'does-not-apply' ? [] : [FLAW_SENTENCES[flaw]])),
  ];
  return sentences.join(' ');
}

function agreementText({ agreement }: RankedPatch, others: number): string {
  const { share, text, cover, files } = agreement;
  const met = files.filter((file) => file.others > 0).length;
  const whom = others === 1 ? 'the other candidate' : `the ${others} others`;
  return (
    `Agreement with ${whom} ${share.toFixed(2)}: its changes are ${percent(text)} similar to theirs, and it covers ` +
    `${percent(cover)} of the files and places that they change; of its ${counted(files.length, 'file')}, ${met} ` +
    `${met === 1 ? 'is' : 'are'} also changed by others.`
  );
}

function sameChangeText({ id, agreement }: RankedPatch): readonly string[] {
  const same = agreement.alike.filter((other) => other !== id).map(shownId);
  return same.length === 0 ? [] : [`Its source changes equal those of ${same.join(', ')}.`];
}

/** The whole decision in one or two sentences. */
function decisionReason(decidedBy: DecidedBy, placed: readonly RankedPatch[]): string {
  const [best] = placed;
  if (!best) return 'There was no candidate to choose from.';
  if (decidedBy === 'none') {
    return `No candidate can be right. The first of them, ${shownId(best.id)}: ${rankReason(best, placed.length - 1)}`;
  }
  return `${separatorReason(decidedBy, best, placed)} Nothing was executed.`;
}

function separatorReason(
  decidedBy: Exclude<DecidedBy, 'none'>,
  best: RankedPatch,
  placed: readonly RankedPatch[],
): string {
  const winner = shownId(best.id);
  const rival = rivalOf(placed);
  if (decidedBy === 'only-candidate') return `${winner} is the only candidate.`;
  if (!rival) return `All candidates make the same source changes, so ${winner} represents them.`;
  const other = shownId(rival.id);
  switch (decidedBy) {
    case 'signals':
      return `${winner} is ahead by the known facts about the candidates; ${other}: ${rankReason(rival, placed.length - 1)}`;
    case 'agreement':
      return `${winner} agrees most with the others: ${agreementScore(best)} against ${agreementScore(rival)} for ${other}.`;
    case 'tie':
      return `${winner} and ${other} are tied: nothing separates them.`;
  }
}

const agreementScore = ({ agreement }: RankedPatch): string => agreement.score.toFixed(2);
const percent = (share: number): string => `${Math.round(100 * share)}%`;
const MAX_ID_CHARS = 80;
/** Ids come from other programs; sentences show them shortened, on one line. */
const shownId = (id: string): string =>
  id.slice(0, MAX_ID_CHARS).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
