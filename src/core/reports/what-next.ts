import { chosenOf } from '../decision/index.ts';
import { branchOf } from './branches.ts';
import { code, link, sentence } from './safe.ts';
import type { RunView } from './view.ts';

/** How to start anew, after "then" or "To start anew,": plain words with code in backticks. */
export const againWords = (view: RunView): string =>
  view.origin.kind === 'github'
    ? view.origin.work
      ? `comment \`/auto-dev ${view.origin.work}\` or \`/auto-dev retry\``
      : `set the label \`${view.label.replaceAll('`', '')}\` again or comment \`/auto-dev retry\``
    : 'start the run again';

/** No candidate has a patch: more words in the task would hardly help. */
export const leftNothing = ({ candidates }: RunView): boolean =>
  candidates.every(({ patch }) => patch === undefined);

/** Why GitHub would not have the pull request of a winner and what to do about it; empty where it had none to refuse. */
export function unopenedWords(view: RunView, compareUrl: string | undefined): string {
  const { outcome } = view;
  const alias = chosenOf(view);
  if (outcome?.kind !== 'table' || outcome.unopened === undefined || alias === null) return '';
  const url = compareUrl ?? compareUrlOf(view, alias);
  const branch = branchOf(view, alias);
  const where =
    branch === null
      ? 'Its branch could not be pushed either; its diff is in the comparison.'
      : `Its branch is ${code(branch)}${url === null ? '' : ` (${link('compare', url)})`}: open a pull request of it by hand.`;
  const again = sentence(againWords(view));
  return `**${alias}** has no pull request: ${sentence(outcome.unopened, 400)} ${where} Or mend what GitHub names, then ${again}.`;
}

/** GitHub's page for a candidate's branch, from the address of our own comment; null where that is not known. */
function compareUrlOf(view: RunView, alias: string): string | null {
  const { outcome, base } = view;
  const branch = branchOf(view, alias);
  const ours = outcome?.kind === 'table' ? outcome.comparisonUrl : undefined;
  const repository = /^(https?:\/\/[^?#]+)\/(?:issues|pull)\/\d+/.exec(ours ?? '')?.[1];
  return repository && base && branch ? `${repository}/compare/${base.sha}...${branch}` : null;
}
