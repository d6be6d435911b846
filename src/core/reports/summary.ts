import { expiryReason } from '../brief/index.ts';
import type { Alias, RunState } from '../model/index.ts';
import { chosenOf, pickable } from '../ranking/index.ts';
import { activityLabel } from './activity.ts';
import { blindNote, leavesChoiceToPerson } from './blind.ts';
import { noSurvivorAdvice, unopenedText, votesLine } from './decision-sections.ts';
import { branchMerge, branchOf, counted, elapsed, queueText, stageNumber, stageOf } from './format.ts';
import { choiceText, chosenText, evidenceText, lastPick, onlyCandidate, pickedBy } from './headline.ts';
import { MARKDOWN, type Markup } from './markup.ts';
import { waitingText } from './replies.ts';
import { startAgainText, unpickedText } from './stopped.ts';
import { changedSinceLines, sandboxWarnings, silenceLines } from './test-facts.ts';
import { fatalTrouble, type OutcomeView, type RunView } from './view.ts';

/** What a reader must know first, in the same words wherever it is shown. Empty strings and lists for nothing. */
export interface RunSummary {
  /** The stage and its activity, or how the run ended; then its time. */
  readonly title: string;
  /** What came of it, in blocks. */
  readonly outcome: readonly string[];
  /** A link to the comparison of all candidates. */
  readonly comparison: string;
  /** What it waits for: its place in the queue, people's replies. */
  readonly waits: readonly string[];
  /** What is weaker or has changed: tests without results, the sandbox, the issue, the base branch. */
  readonly warnings: readonly string[];
  /** What the reader can do now. */
  readonly next: string;
}

export const runSummary = (view: RunView, to: Markup = MARKDOWN): RunSummary => ({
  title: summaryTitle(view, to),
  outcome: nonEmpty(outcomeBlocks(view, to)),
  comparison: comparisonText(view, to),
  waits: nonEmpty([queueText(view, to), waitingText(view, to), to.own(blindNote(view))]),
  warnings: [...silenceLines(view, to), ...changedSinceLines(view, to), ...sandboxWarnings(view, to)],
  next: nextStep(view, to),
});

const nonEmpty = (texts: readonly string[]): readonly string[] => texts.filter((text) => text !== '');

function summaryTitle(view: RunView, to: Markup): string {
  const stage = stageOf(view);
  const time = elapsed(view.now - view.startedAt);
  if (stage !== null) return `${stageNumber(stage)}, ${activityLabel(view, stage, to)} · ${time}`;
  return `${ending(view, to)} · ${time}`;
}

const ENDINGS = {
  refused: 'run not started',
  published: 'done',
  merged: 'merged',
  closed: 'pull request closed',
  failed: 'run failed',
  cancelled: 'run cancelled',
} as const satisfies Partial<Record<RunState, string>>;

function ending(view: RunView, to: Markup): string {
  const { outcome, state } = view;
  const chosen = chosenOf(view);
  if (awaitsChoice(view))
    return onlyCandidate(view) === null
      ? 'please choose a candidate'
      : 'please decide on the only candidate that passed';
  if (isUnpicked(view)) return 'no candidate was picked';
  if (state === 'published' && outcome?.kind === 'pull') return pullEnding(view, outcome, to);
  if (state === 'published' && isUnopened(view) && chosen !== null) {
    return `candidate ${chosen} won, but GitHub refused its pull request`;
  }
  if (state === 'published' && hasNoSurvivor(view)) return 'no candidate passed';
  return state in ENDINGS ? ENDINGS[state as keyof typeof ENDINGS] : state;
}

function pullEnding(
  view: RunView,
  { number, url }: Extract<OutcomeView, { kind: 'pull' }>,
  to: Markup,
): string {
  const pull = `draft pull request ${to.link(`#${number}`, url)}`;
  const chosen = chosenOf(view);
  if (chosen === null) return `${pull}, no candidate picked`;
  const by = pickedBy(view, to);
  return `${pull} with candidate ${chosen}${by === '' ? '' : `, ${by}`}`;
}

/** Whether a person is asked to choose a candidate: a local run is over then, and asks until somebody has picked. */
const awaitsChoice = (view: RunView): boolean =>
  leavesChoiceToPerson(view) && (view.state === 'awaiting_pick' || lastPick(view) === undefined);

/** It ended without a pull request, as nobody picked one of its candidates. */
const isUnpicked = ({ state, outcome }: RunView): boolean => state === 'closed' && outcome?.kind !== 'pull';

const hasNoSurvivor = (view: RunView): boolean => view.decision?.kind === 'none' && chosenOf(view) === null;

const isUnopened = ({ outcome }: RunView): boolean =>
  outcome?.kind === 'table' && outcome.refusedBecause !== undefined;

const nextSentence = (text: string, to: Markup): string => `${to.own('**Next:**')} ${text}`;

function outcomeBlocks(view: RunView, to: Markup): readonly string[] {
  const { decision, state } = view;
  const fatal = fatalTrouble(view);
  if (fatal !== undefined) {
    return [
      to.sentence(fatal.message, 1_500),
      openedText(view, to),
      nextSentence(to.sentence(fatal.advice, 600), to),
    ];
  }
  if (state === 'cancelled') {
    const kept = to.own("The run's record keeps all work done so far.");
    const again = view.origin.kind === 'local' ? '' : to.sentence(startAgainText(view));
    const next = again === '' ? '' : `To start again, ${again}.`;
    return [openedText(view, to), nonEmpty([stoppedText(view, to), kept, next]).join(' ')];
  }
  if (stageOf(view) !== null || decision === undefined) return [];
  if (isUnopened(view))
    return [chosenSummary(view, to), unopenedText(view, undefined, to), unfinishedText(view, to)];
  if (awaitsChoice(view)) {
    const { title, blocks } = choiceText(view, to);
    return [withStop(title), ...blocks, votesLine(view, to), unfinishedText(view, to)];
  }
  if (isUnpicked(view)) {
    const who = lastPick(view) ? `${chosenText(view, to)}.` : unpickedText(view, to);
    return [`${who} No pull request was opened.`, votesLine(view, to)];
  }
  if (hasNoSurvivor(view)) {
    const unopened = view.origin.kind === 'github' ? 'No pull request was opened.' : '';
    return [to.sentence(decision.because, 600), unopened, unfinishedText(view, to)];
  }
  return [chosenSummary(view, to), unfinishedText(view, to)];
}

/** Who or what stopped a run. */
function stoppedText(view: RunView, to: Markup): string {
  const last = view.dialogue?.inquiries.at(-1);
  const why = view.endedBecause ?? (last?.settled?.kind === 'expired' ? expiryReason(last) : undefined);
  return why === undefined ? '' : `${to.own('It stopped because')} ${to.sentence(why, 300)}.`;
}

/** Of a run that has its result although publishing met a fault; the next pick writes what is missing. */
const unfinishedText = (view: RunView, to: Markup): string => {
  const { state, trouble } = view;
  const isNews = state === 'published' || state === 'awaiting_pick';
  return trouble === undefined || !isNews || lastPick(view) !== undefined
    ? ''
    : `${to.own('Publishing did not finish:')} ${to.sentence(trouble.message, 1_500)} ${to.sentence(trouble.advice, 600)}`;
};

/** Of a run that was stopped when its pull request already existed. */
const openedText = ({ outcome }: RunView, to: Markup): string =>
  outcome?.kind === 'pull'
    ? `${to.own('Its draft pull request')} ${to.link(`#${outcome.number}`, outcome.url)} ${to.own('was already open: if you do not want it, close it.')}`
    : '';

const withStop = (text: string): string => (/[.?]$/.test(text) ? text : `${text}.`);

/** The chosen candidate, how it was chosen, and the evidence. */
const chosenSummary = (view: RunView, to: Markup): string =>
  `${chosenText(view, to)}. ${evidenceText(view, to)}`;

function comparisonText(view: RunView, to: Markup): string {
  const { outcome } = view;
  const url = outcome?.kind === 'pull' || outcome?.kind === 'table' ? outcome.comparisonUrl : undefined;
  if (url === undefined) return '';
  if (hasNoSurvivor(view)) return `${to.link('Why each candidate failed', url)}.`;
  const isOpen = awaitsChoice(view) || isUnpicked(view) || chosenOf(view) === null;
  return `${to.link(isOpen ? 'Compare all candidates' : 'Compare with the other candidates', url)}.`;
}

function activeRunHelp(view: RunView, to: Markup): string {
  const id = to.code(view.id);
  if (view.origin.kind === 'local') return `To cancel, run ${to.code(`runoff cancel ${view.id}`)}.`;
  const what = view.origin.work ? 'pull request' : 'issue';
  // The label stays until the run begins.
  const label = to.code(view.queue ? view.label : `${view.label}:running`);
  return `${to.own('To cancel, comment `/auto-dev cancel` or remove the label')} ${label}. ${to.own(`\`/auto-dev status\` updates the status comment, \`/auto-dev help\` lists all commands. Editing the ${what} now does not affect this run`)} (${id}).`;
}

/** What the reader can do now. */
function nextStep(view: RunView, to: Markup): string {
  const { state, outcome } = view;
  if (stageOf(view) !== null) return activeRunHelp(view, to);
  const next = (text: string) => nextSentence(text, to);
  if (awaitsChoice(view)) return next(to.own(pickHelp(view)));
  if (isUnpicked(view)) {
    const again = startAgainText(view);
    return again === '' ? '' : next(`to start again, ${to.sentence(again)}.`);
  }
  // The advice is shown above, with the reason.
  if (state !== 'published' || isUnopened(view)) return '';
  if (outcome?.kind === 'pull' && chosenOf(view) === null) {
    const first = pickable(view)[0] ?? 'A';
    return next(
      to.own(`close the pull request, or choose a candidate for it with \`/auto-dev pick ${first}\`.`),
    );
  }
  const chosen = chosenOf(view);
  if (chosen !== null) return next(reviewHelp(view, chosen, to));
  return next(to.sentence(noSurvivorAdvice(view), 600));
}

function pickHelp(view: RunView): string {
  const first = pickable(view)[0] ?? 'A';
  const ways =
    view.origin.kind === 'github'
      ? `tick a box in the comparison, or comment \`/auto-dev pick ${first}\` or \`/auto-dev pick none\`.`
      : `run \`runoff pick ${view.id} ${first}\` or \`runoff pick ${view.id} none\`.`;
  return `${ways} There is no deadline, and waiting costs nothing.`;
}

function reviewHelp(view: RunView, chosen: Alias, to: Markup): string {
  const branch = branchOf(view, chosen);
  if (view.origin.kind === 'local')
    return branch === null
      ? 'look at its diff.'
      : `review its branch, then ${view.base?.uncommitted ? 'apply it to your uncommitted changes' : 'merge it'}: ${to.code(branchMerge(view, branch))}.`;
  const others = view.candidates.length - 1;
  const compared =
    others > 0
      ? ` Its comparison covers the other ${others === 1 ? 'candidate' : counted(others, 'candidate')}.`
      : '';
  return to.own(
    `review the pull request; Runoff never merges.${compared} Comment \`/auto-dev help\` there for a list of commands.`,
  );
}
