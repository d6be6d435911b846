import { leftToPerson, pickable } from '../decision/index.ts';
import { isFinal } from '../lifecycle/index.ts';
import type { Alias } from '../model/index.ts';
import { told } from './comparison.ts';
import { counted, money, plusMinus } from './format.ts';
import type { Parts } from './parts.ts';
import { chosenWords, evidenceSaid, lastPick, votesLine } from './picked.ts';
import { code, link, sentence } from './safe.ts';
import { joined, runLines } from './verdict.ts';
import type { Diffs, RunView } from './view.ts';
import { againWords } from './what-next.ts';
import { contestantName } from './words.ts';

/** A last box, for whoever wants no pull request of any. */
const NONE_OF_THEM = 'None of them';

/** Whether a person may still pick by a tick: nobody did, and the run has not ended otherwise. */
const pickIsOpen = (view: RunView): boolean =>
  lastPick(view) === undefined && !isFinal(view.state) && view.state !== 'published';

/** What each box of the comparison on the issue stands for, in order; null: none of them. Empty once a pick is made. */
export const choicesOf = (view: RunView): readonly (Alias | null)[] =>
  pickIsOpen(view) ? [...pickable(view), null] : [];

/**
 * The comparison for the issue, when a person must pick: one box for each candidate that may be picked. The same view is
 * always the same text, so that a tick can be told from any other edit; the boxes stand before all text of others. One
 * comment, or up to five; only the first has boxes.
 */
export function choice(view: RunView, diffs: Diffs): Parts {
  return told('choice', view, diffs, {
    head: joined([`### ${heading(view)}`, evidenceSaid(view), ...runLines(view)]),
    next: [...(pickIsOpen(view) ? asking(view) : [ended(view)]), votesLine(view)],
    everyone: true,
  });
}

function heading(view: RunView): string {
  const pick = lastPick(view);
  if (pick) return chosenWords(view);
  if (!pickIsOpen(view)) return 'Nobody was picked';
  return leftToPerson(view.decision)
    ? 'A person picks: the settings leave it to you'
    : 'A person should pick: the evidence does not decide';
}

function asking(view: RunView): readonly string[] {
  const first = pickable(view)[0] ?? 'A';
  return [
    '**Which one shall become the draft pull request?**',
    choicesOf(view)
      .map((alias) => `- [ ] ${alias === null ? NONE_OF_THEM : boxLine(view, alias)}`)
      .join('\n'),
    `Tick one box, or comment \`/auto-dev pick ${first}\` or \`/auto-dev pick none\`. To say what you would pick without deciding, comment \`/auto-dev vote ${first}\`. Only people with write permission are heard. The run waits without limit and holds nothing meanwhile.`,
  ];
}

/** One line, so that it is one to compare. */
function boxLine(view: RunView, alias: Alias): string {
  const candidate = view.candidates.find((one) => one.alias === alias);
  const same = (view.evidence.find((one) => one.alias === alias)?.alike ?? []).filter((one) => one !== alias);
  const facts = candidate
    ? [
        code(contestantName(candidate.contestant), 80),
        ...(candidate.patch
          ? [`${plusMinus(candidate.patch)} in ${counted(candidate.patch.files, 'file')}`]
          : []),
        money(candidate.usage.usd),
        ...(same.length > 0 ? [`the same change as ${same.join(', ')}`] : []),
      ]
    : [];
  return `**${alias}**: ${facts.join(', ')}`;
}

function ended(view: RunView): string {
  const pick = lastPick(view);
  if (pick && pick.alias !== null) {
    const { outcome } = view;
    const pull = outcome?.kind === 'pull' ? ` in ${link(`#${outcome.number}`, outcome.url)}` : '';
    return `**Next:** read the draft pull request${pull}; nothing is merged without you. \`/auto-dev pick\` with another letter puts another candidate there.`;
  }
  const why = pick ? '' : 'The run ended before anybody picked. ';
  return `${why}No pull request was opened. To start anew, ${sentence(againWords(view))}.`;
}
