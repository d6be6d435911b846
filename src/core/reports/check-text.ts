import { chosenOf } from '../ranking/index.ts';
import { decisionSection, joinBlocks } from './decision-sections.ts';
import { decisionLabel } from './format.ts';
import { lastPick } from './headline.ts';
import { link, plainLine } from './markdown.ts';
import { rankingSection } from './ranking-table.ts';
import type { RunView } from './view.ts';

/** Maximum characters of a title, chosen by what GitHub shows in a list. */
const MAX_CHECK_TITLE = 100;
/** Maximum UTF-16 units of the table; GitHub allows 65,535 characters for a summary. */
const MAX_TABLE = 14_000;
const MAX_SUMMARY = 65_000;

/** The text of Runoff's check run on the pull request. */
interface CheckText {
  /** Plain text of at most 100 code points. */
  readonly title: string;
  /** Markdown of at most 65,000 UTF-16 units. */
  readonly summary: string;
  /** Where GitHub's `Details` leads; absent: to GitHub's own page of the check. */
  readonly detailsUrl?: string;
  /**
   * `success` for a clear or likely winner and for a person's pick, otherwise `neutral`: the check never blocks a
   * merge.
   */
  readonly conclusion: 'success' | 'neutral';
}

/** The check run's text: the first screen of the comparison, with a link to the rest. */
export function checkText(view: RunView): CheckText {
  const blocks = [decisionSection(view), rankingSection(view, MAX_TABLE), comparisonLink(view)];
  const summary = joinBlocks(blocks);
  return {
    title: plainLine(titleOf(view), MAX_CHECK_TITLE),
    summary: summary.length <= MAX_SUMMARY ? summary : joinBlocks(blocks.slice(1)),
    conclusion: isSure(view) ? 'success' : 'neutral',
    ...(view.pageUrl === undefined ? {} : { detailsUrl: view.pageUrl }),
  };
}

function titleOf(view: RunView): string {
  const pick = lastPick(view);
  const alias = chosenOf(view);
  const among = `of ${view.candidates.length}`;
  if (pick)
    return alias === null ? 'A person rejected all candidates' : `${alias} ${among}, picked by a person`;
  const { decision } = view;
  if (!decision) return 'No decision yet';
  if (decision.kind === 'none') return 'No candidate passed';
  return `${decision.alias} ${among}: ${decisionLabel(decision)}`;
}

const isSure = (view: RunView): boolean =>
  lastPick(view) ? chosenOf(view) !== null : view.decision?.kind === 'winner';

function comparisonLink({ outcome }: RunView): string {
  const url = outcome?.kind === 'pull' || outcome?.kind === 'table' ? outcome.comparisonUrl : undefined;
  return url === undefined ? '' : `${link('Compare with the other candidates', url)}.`;
}
