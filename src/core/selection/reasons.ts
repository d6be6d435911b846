import type { Flaw } from '../likeness/index.ts';
import { type DecidedBy, type Placed, rivalOf } from './placed.ts';

const LONGEST_NAME = 80;

const AGAINST: Readonly<Record<Exclude<Placed['against'], 'nothing'>, string>> = {
  'does-not-apply': 'It does not apply to the base.',
  'breaks-tests': 'It breaks tests that pass on the base.',
};

const FLAW_SENTENCES: Readonly<Record<Exclude<Flaw, 'does-not-apply'>, string>> = {
  'no-source-change': 'It changes no source file.',
  'no-effective-change': 'It changes nothing but comments and formatting.',
  'unbalanced-brackets': 'A hunk of it leaves brackets open, or closes more than it opens.',
  'removes-tests': 'It takes many lines out of existing tests.',
  'scratch-files': 'Scratch files are left in it.',
};

/** Why a candidate stands where it does, among so many others. */
export function becauseOf(one: Placed, others: number): string {
  if (one.against !== 'nothing') return AGAINST[one.against];
  const { flaws } = one.agreement;
  const sentences = [
    others === 0 ? 'There is no other candidate to compare it with.' : agreed(one, others),
    ...alike(one),
    ...flaws.flatMap((flaw) => (flaw === 'does-not-apply' ? [] : [FLAW_SENTENCES[flaw]])),
  ];
  return sentences.join(' ');
}

function agreed({ agreement }: Placed, others: number): string {
  const { share, text, cover, files } = agreement;
  const met = files.filter((file) => file.others > 0).length;
  const whom = others === 1 ? 'the other candidate' : `the ${others} others`;
  return (
    `Agreement with ${whom} ${share.toFixed(2)}: its changes read ${percent(text)} like theirs, and it covers ` +
    `${percent(cover)} of the files and places that they change; of its ${counted(files.length, 'file')}, ${met} ` +
    `${met === 1 ? 'is' : 'are'} changed by others too.`
  );
}

function alike({ id, agreement }: Placed): readonly string[] {
  const same = agreement.alike.filter((other) => other !== id).map(named);
  return same.length === 0 ? [] : [`Its source changes are those of ${same.join(', ')}.`];
}

/** The whole decision in a sentence or two. */
export function verdictOf(decidedBy: DecidedBy, placed: readonly Placed[]): string {
  const [best] = placed;
  if (!best) return 'There was no candidate to decide on.';
  if (decidedBy === 'none') {
    return `No candidate can be right. The first of them, ${named(best.id)}: ${becauseOf(best, placed.length - 1)}`;
  }
  return `${reasonFor(decidedBy, best, placed)} Nothing was executed.`;
}

function reasonFor(decidedBy: Exclude<DecidedBy, 'none'>, best: Placed, placed: readonly Placed[]): string {
  const winner = named(best.id);
  const rival = rivalOf(placed);
  if (decidedBy === 'only-candidate') return `${winner} is the only candidate.`;
  if (!rival) return `All candidates make the same source changes; ${winner} stands for them.`;
  const other = named(rival.id);
  switch (decidedBy) {
    case 'signals':
      return `${winner} is ahead by what is known of the candidates; ${other}: ${becauseOf(rival, placed.length - 1)}`;
    case 'agreement':
      return `${winner} agrees best with the others: ${scored(best)} against ${scored(rival)} for ${other}.`;
    case 'hash':
      return `Nothing separates ${winner} from ${other}; the texts of the patches decided.`;
  }
}

const scored = ({ agreement }: Placed): string => agreement.score.toFixed(2);
const percent = (share: number): string => `${Math.round(100 * share)} %`;
const counted = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
/** Ids come from other programs; in a sentence they are short and on one line. */
const named = (id: string): string => id.slice(0, LONGEST_NAME).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
