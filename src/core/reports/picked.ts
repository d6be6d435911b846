import { chosenOf } from '../decision/index.ts';
import type { Alias } from '../model/index.ts';
import { counted } from './format.ts';
import { personFirst, personIn } from './people.ts';
import { sentence } from './safe.ts';
import type { RunView } from './view.ts';
import { verdictWords } from './words.ts';

/** Code points of the reason for a decision. */
const BECAUSE = 600;
/** Voters that are named for each candidate; the rest is counted. */
const VOTERS_NAMED = 20;

type Picked = NonNullable<RunView['picks']>[number];

/** The pick that stands; undefined where no person picked. */
export const lastPick = ({ picks = [] }: Pick<RunView, 'picks'>): Picked | undefined => picks.at(-1);

/** ``picked by `mona` ``, after a candidate's letter; empty where no person picked one. */
export function pickedBy(view: RunView): string {
  const pick = lastPick(view);
  return pick && pick.alias !== null ? `picked by ${personIn(pick.by)}` : '';
}

/** Who stands as chosen and how that came, for a heading; empty where nothing was decided. */
export function chosenWords(view: RunView): string {
  const pick = lastPick(view);
  if (pick) {
    return pick.alias === null
      ? `${personFirst(pick.by)} picked none of them`
      : `**${pick.alias}** — picked by ${personIn(pick.by)}`;
  }
  const { decision } = view;
  return decision && decision.kind !== 'none' ? `**${decision.alias}** — ${verdictWords(decision)}` : '';
}

/** What the evidence said, in full: beside a person's pick, who stood first. */
export function evidenceSaid(view: RunView): string {
  const { decision } = view;
  if (decision === undefined) return '';
  const because = sentence(decision.because, BECAUSE);
  if (!lastPick(view)) return because;
  if (decision.kind === 'none') return `The evidence put nobody first. ${because}`;
  const whom = decision.alias === chosenOf(view) ? 'it first as well' : `**${decision.alias}** first`;
  return `The evidence put ${whom}: ${verdictWords(decision)}. ${because}`;
}

/** How people voted, best first; empty where nobody did. One for each person, which the store sees to. */
export function votesLine({ votes = [] }: RunView): string {
  const tally = new Map<Alias, string[]>();
  for (const { by, alias } of votes) tally.set(alias, [...(tally.get(alias) ?? []), personIn(by)]);
  const lines = [...tally]
    .toSorted(([a, one], [b, other]) => other.length - one.length || (a < b ? -1 : 1))
    .map(([alias, voters]) => {
      const more = voters.length - VOTERS_NAMED;
      const named = voters.slice(0, VOTERS_NAMED).join(', ');
      return `**${alias}** ${voters.length} (${named}${more > 0 ? ` and ${more} more` : ''})`;
    });
  return lines.length === 0 ? '' : `${counted(votes.length, 'vote')}: ${lines.join('; ')}.`;
}
