import { chosenOf } from '../ranking/index.ts';
import { decisionSection, joinBlocks, lastPick } from './decision-summary.ts';
import { decisionLabel } from './labels.ts';
import { rankingSection } from './ranking-table.ts';
import { link, plain } from './safe.ts';
import type { RunView } from './view.ts';

/** Characters of a title: our limit, what GitHub shows of one in a list. */
const MAX_TITLE = 100;
/** UTF-16 units of the table; GitHub takes 65,535 characters of a summary. */
const MAX_TABLE = 14_000;
const MAX_SUMMARY = 65_000;

/** What our check run on the pull request says. */
export interface CheckText {
  /** Plain text of at most 100 code points. */
  readonly title: string;
  /** Markdown of at most 65,000 UTF-16 units. */
  readonly summary: string;
  /** `success` for a clear or likely winner and for what a person picked, `neutral` for all else: we never block a merge. */
  readonly conclusion: 'success' | 'neutral';
}

/** The check run's text: the first screen of the comparison, with the way to the rest of it. */
export function checkText(view: RunView): CheckText {
  const blocks = [decisionSection(view), rankingSection(view, MAX_TABLE), comparisonLine(view)];
  const summary = joinBlocks(blocks);
  return {
    title: plain(titleOf(view), MAX_TITLE),
    summary: summary.length <= MAX_SUMMARY ? summary : joinBlocks(blocks.slice(1)),
    conclusion: isSure(view) ? 'success' : 'neutral',
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

function comparisonLine({ outcome }: RunView): string {
  const url = outcome?.kind === 'pull' || outcome?.kind === 'table' ? outcome.comparisonUrl : undefined;
  return url === undefined ? '' : `${link('Compare with the other candidates', url)}.`;
}
