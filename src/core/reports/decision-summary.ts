import type { Alias } from '../model/index.ts';
import { chosenOf } from '../ranking/index.ts';
import { branchOf, counted, personFirst, personIn } from './format.ts';
import { decisionLabel } from './labels.ts';
import { code, inertSentence, link } from './safe.ts';
import {
  changedSinceLines,
  contestedQuestion,
  sandboxWarnings,
  silenceLines,
  testedText,
} from './test-facts.ts';
import type { RunView } from './view.ts';

/** The first thing a reader sees: who won, how sure that is, what decided it. */
export const decisionSection = (view: RunView): string =>
  joinBlocks([
    `### ${chosenText(view) || noSurvivorTitle(view)}`,
    ...silenceLines(view),
    evidenceText(view),
    votesLine(view),
    ...runFacts(view),
  ]);

/** What holds for the whole run: how many candidates, where they were tested, what weakens that, what a person is asked. */
export function runFacts(view: RunView): readonly string[] {
  const question = contestedQuestion(view);
  return [
    `Run ${code(view.id)}: ${counted(view.candidates.length, 'candidate')}, ${testedText(view)} on the same base commit.`,
    ...changedSinceLines(view),
    ...sandboxWarnings(view),
    question === null ? '' : `**A question for you.** ${inertSentence(question, 1_500)}`,
  ];
}

export const joinBlocks = (blocks: readonly string[]): string =>
  blocks.filter((block) => block !== '').join('\n\n');

function noSurvivorTitle(view: RunView): string {
  return view.candidates.length === 1 ? 'The candidate did not pass' : 'No candidate passed';
}

/** Code points of the reason for a decision. */
const BECAUSE = 600;
/** Voters that are named for each candidate; the rest is counted. */
const VOTERS_NAMED = 20;

type StoredPick = NonNullable<RunView['picks']>[number];

/** The pick that stands; undefined where no person picked. */
export const lastPick = ({ picks = [] }: Pick<RunView, 'picks'>): StoredPick | undefined => picks.at(-1);

/** ``picked by `mona` ``, after a candidate's letter; empty where no person picked one. */
export function pickedBy(view: RunView): string {
  const pick = lastPick(view);
  return pick && pick.alias !== null ? `picked by ${personIn(pick.by)}` : '';
}

/** Who stands as chosen and how that came, for a heading; empty where nothing was decided. */
export function chosenText(view: RunView): string {
  const pick = lastPick(view);
  if (pick) {
    return pick.alias === null
      ? `${personFirst(pick.by)} rejected all candidates`
      : `**${pick.alias}** — picked by ${personIn(pick.by)}`;
  }
  const { decision } = view;
  return decision && decision.kind !== 'none' ? `**${decision.alias}** — ${decisionLabel(decision)}` : '';
}

/** What the evidence said, in full: beside a person's pick, who stood first. */
export function evidenceText(view: RunView): string {
  const { decision } = view;
  if (decision === undefined) return '';
  const because = inertSentence(decision.because, BECAUSE);
  if (!lastPick(view)) return because;
  if (decision.kind === 'none') return `The evidence ranks no candidate first. ${because}`;
  const whom = decision.alias === chosenOf(view) ? 'it first too' : `**${decision.alias}** first`;
  return `The evidence ranks ${whom}: ${decisionLabel(decision)}. ${because}`;
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

/** How to start anew, after "then" or "To start anew,": plain words with code in backticks. */
export const restartText = (view: RunView): string =>
  view.origin.kind === 'github'
    ? view.origin.work
      ? `comment \`/auto-dev ${view.origin.work}\` or \`/auto-dev retry\``
      : `add the label \`${view.label.replaceAll('`', '')}\` again or comment \`/auto-dev retry\``
    : 'start the run again';

/** No candidate has a patch: more words in the task would hardly help. */
export const noPatchAtAll = ({ candidates }: RunView): boolean =>
  candidates.every(({ patch }) => patch === undefined);

/** Why GitHub would not have the pull request of a winner and what to do about it; empty where it had none to refuse. */
export function unopenedText(view: RunView, compareUrl: string | undefined): string {
  const { outcome } = view;
  const alias = chosenOf(view);
  if (outcome?.kind !== 'table' || outcome.refusedBecause === undefined || alias === null) return '';
  const url = compareUrl ?? compareUrlOf(view, alias);
  const branch = branchOf(view, alias);
  const where =
    branch === null
      ? 'Its branch could not be pushed either; the comparison has its diff.'
      : `Its branch is ${code(branch)}${url === null ? '' : ` (${link('compare', url)})`}: open a pull request from it manually.`;
  const again = inertSentence(restartText(view));
  return `**${alias}** has no pull request: ${inertSentence(outcome.refusedBecause, 400)} ${where} Or fix what GitHub reports, then ${again}.`;
}

/** GitHub's page for a candidate's branch, from the address of our own comment; null where that is not known. */
function compareUrlOf(view: RunView, alias: string): string | null {
  const { outcome, base } = view;
  const branch = branchOf(view, alias);
  const ours = outcome?.kind === 'table' ? outcome.comparisonUrl : undefined;
  const repository = /^(https?:\/\/[^?#]+)\/(?:issues|pull)\/\d+/.exec(ours ?? '')?.[1];
  return repository && base && branch ? `${repository}/compare/${base.sha}...${branch}` : null;
}
