import { sections } from './comparison.ts';
import { report } from './marker.ts';
import { sentence } from './safe.ts';
import type { Diffs, Report, RunView } from './view.ts';

/** What a maintainer can do when nothing survived; plain sentence with code in backticks. */
export function afterNobody(view: RunView): string {
  const again =
    view.origin.kind === 'github'
      ? `remove the label \`${view.label.replaceAll('`', '')}\` and set it again`
      : 'start the run again';
  if (leftNothing(view)) {
    return `No pull request was opened, since no coder left a patch. Read below what stopped each one: where it is the budget, a limit or an agent's set-up, mend that, then ${again}.`;
  }
  return `No pull request was opened, since nothing that was tried holds up. Read below what each candidate ran into, make the task more precise (which behaviour, which test shows it), then ${again}.`;
}

/** No candidate has a patch: more words in the task would hardly help. */
export const leftNothing = ({ candidates }: RunView): boolean =>
  candidates.every(({ patch }) => patch === undefined);

/** The table for an issue whose run ended without a candidate worth a pull request. */
export function noWinner(view: RunView, diffs: Diffs): Report {
  return report('outcome', view.id, sections(view, diffs, `**Next:** ${sentence(afterNobody(view), 600)}`));
}
