import { chosenOf } from '../decision/index.ts';
import { told } from './comparison.ts';
import type { Parts } from './parts.ts';
import { sentence } from './safe.ts';
import { verdictSection } from './verdict.ts';
import type { Diffs, RunView } from './view.ts';
import { againWords, leftNothing, unopenedWords } from './what-next.ts';

/** What a maintainer can do when nothing survived; plain sentence with code in backticks. */
export function afterNobody(view: RunView): string {
  const again = againWords(view);
  if (leftNothing(view)) {
    return `No pull request was opened, since no coder left a patch. Read below what stopped each one: where it is a key, a provider, the budget, a limit or an agent's set-up, mend that, then ${again}.`;
  }
  return `No pull request was opened, since nothing that was tried holds up. Read below what each candidate ran into, make the task more precise (which behaviour, which test shows it), then ${again}.`;
}

/**
 * The table for an issue whose run ended without a pull request: nobody is worth one, or GitHub would not have it
 * (`outcome.unopened`). One comment, or up to five.
 */
export function noWinner(view: RunView, diffs: Diffs): Parts {
  const chosen = chosenOf(view);
  const compareUrl = chosen === null ? undefined : diffs[chosen]?.compareUrl;
  const next = unopenedWords(view, compareUrl) || sentence(afterNobody(view), 600);
  return told('outcome', view, diffs, {
    head: verdictSection(view),
    next: [`**Next:** ${next}`],
    everyone: true,
  });
}
