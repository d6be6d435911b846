import { type Alias, isFinal } from '../model/index.ts';
import { chosenOf, pickable } from '../ranking/index.ts';
import { contestantsSection, matrixSection } from './comparison-sections.ts';
import {
  decisionSection,
  evidenceSection,
  joinBlocks,
  noSurvivorAdvice,
  pageLine,
  unopenedText,
  votesLine,
  warningBlocks,
} from './decision-sections.ts';
import { diffEntries, paginateDiffs, type ReportComments } from './diff-pages.ts';
import { testFaultOf } from './executed.ts';
import { lookAtLines } from './findings.ts';
import { counted, plusMinus } from './format.ts';
import { choiceText, chosenText, evidenceText, lastPick, onlyCandidate } from './headline.ts';
import { inertSentence, link, type ReportKind } from './markdown.ts';
import { rankingSection } from './ranking-table.ts';
import { briefSection, debateSection, judgesSection, reviewFold } from './sections.ts';
import { startAgainText, unpickedText } from './stopped.ts';
import { silenceLines } from './test-facts.ts';
import type { Diffs, RunView } from './view.ts';
import { reasonsSection, whyNotSection } from './why-not.ts';

/**
 * Maximum UTF-16 units of each section. Names and sentences that grow when escaped can reach these limits; ordinary
 * runs use a tenth. The diffs get the rest.
 */
const MAX_SECTION = {
  ranking: 7_000,
  matrix: 4_000,
  whyNot: 6_000,
  lookAt: 5_000,
  reasons: 8_000,
  contestants: 5_000,
  evidence: 7_000,
  judges: 4_000,
  review: 4_000,
  brief: 5_000,
  debate: 3_000,
} as const;

/** The comparison of all candidates, for the pull request of the chosen one: one to five comments. */
export function comparison(view: RunView, diffs: Diffs): ReportComments {
  return comparisonIn('comparison', view, diffs, { head: decisionSection(view), next: [], everyone: false });
}

/** What differs between the places where a comparison is posted. */
interface ComparisonFrame {
  readonly head: string;
  /** What the reader can do now, below the table. */
  readonly next: readonly string[];
  /** Also show the reasons and diff of the first candidate, which appear nowhere else. */
  readonly everyone: boolean;
}

/** The first screen: who, how sure, who passes what, why not the others. Everything else is folded below. */
function comparisonIn(kind: ReportKind, view: RunView, diffs: Diffs, frame: ComparisonFrame): ReportComments {
  const blocks = [
    frame.head,
    rankingSection(view, MAX_SECTION.ranking),
    matrixSection(view, MAX_SECTION.matrix),
    ...frame.next,
    whyNotSection(view, MAX_SECTION.whyNot, frame.everyone),
    ...warningBlocks(view),
    lookAtLines(view, MAX_SECTION.lookAt),
    pageLine(view),
    reasonsSection(view, MAX_SECTION.reasons, frame.everyone),
    contestantsSection(view, MAX_SECTION.contestants),
    evidenceSection(view, diffs, MAX_SECTION.evidence),
    judgesSection(view, MAX_SECTION.judges),
    reviewFold(view, MAX_SECTION.review),
    briefSection(view, MAX_SECTION.brief),
    debateSection(view, MAX_SECTION.debate),
  ];
  const others = !frame.everyone && chosenOf(view) !== null;
  return paginateDiffs(kind, view.id, blocks, {
    title: others ? 'The other diffs' : 'The diffs',
    entries: diffEntries(view, diffs, frame.everyone),
  });
}

/** A last box, for rejecting all candidates. */
const NONE_OF_THEM = 'None of them';

/** Whether a person may still pick by ticking a box: there is no pick, and the run has not ended otherwise. */
const pickIsOpen = (view: RunView): boolean =>
  lastPick(view) === undefined && !isFinal(view.state) && view.state !== 'published';

/** The meaning of each box of the comparison on the issue, in order; null: none of them. Empty once a pick is made. */
export const pickOptions = (view: RunView): readonly (Alias | null)[] =>
  pickIsOpen(view) ? [...pickable(view), null] : [];

/**
 * The comparison on the issue when a person must pick, with one box per pickable candidate. Deterministic, so that a
 * tick can be distinguished from any other edit; the boxes come before all untrusted text. One to five comments; only
 * the first has boxes.
 */
export function pickComment(view: RunView, diffs: Diffs): ReportComments {
  return comparisonIn('choice', view, diffs, {
    head: pickHead(view),
    next: [...(pickIsOpen(view) ? pickInstructions(view) : [pickClosedText(view, diffs)]), votesLine(view)],
    everyone: true,
  });
}

function pickHead(view: RunView): string {
  if (lastPick(view))
    return joinBlocks([`### ${chosenText(view)}`, ...silenceLines(view), evidenceText(view)]);
  if (!pickIsOpen(view)) {
    const first = [chosenText(view), evidenceText(view)].filter((text) => text !== '').join('. ');
    return joinBlocks(['### No candidate was picked', ...silenceLines(view), first]);
  }
  const { title, blocks } = choiceText(view);
  return joinBlocks([`### ${title}`, ...silenceLines(view), ...blocks]);
}

function pickInstructions(view: RunView): readonly string[] {
  const first = pickable(view)[0] ?? 'A';
  const left = onlyCandidate(view);
  return [
    left === null
      ? '**Which candidate should become the draft pull request?**'
      : `**Should ${left} become the draft pull request?**`,
    pickOptions(view)
      .map((alias) => `- [ ] ${alias === null ? NONE_OF_THEM : optionText(view, alias)}`)
      .join('\n'),
    `Tick one box, or comment \`/auto-dev pick ${first}\` or \`/auto-dev pick none\`. To state a preference without deciding, comment \`/auto-dev vote ${first}\`. Only people with write access can choose. There is no deadline, and waiting costs nothing.`,
  ];
}

/** Kept on one line, so that edits can be compared by line. Without the contestant's name: the letter is enough. */
function optionText(view: RunView, alias: Alias): string {
  const candidate = view.candidates.find((one) => one.alias === alias);
  const same = (view.evidence.find((one) => one.alias === alias)?.alike ?? []).filter((one) => one !== alias);
  const fault = testFaultOf(view, alias);
  const facts = [
    ...(candidate?.patch
      ? [`${plusMinus(candidate.patch)} in ${counted(candidate.patch.files, 'file')}`]
      : []),
    ...(fault === null ? [] : [fault]),
    ...(same.length > 0 ? [`the same change as ${same.join(', ')}`] : []),
  ];
  return `**${alias}**: ${facts.join(', ')}`;
}

function pickClosedText(view: RunView, diffs: Diffs): string {
  const pulled = pulledText(view, diffs);
  if (pulled !== '') return pulled;
  const why = lastPick(view) ? '' : `${unpickedText(view)} `;
  const again = startAgainText(view);
  return `${why}No pull request was opened.${again === '' ? '' : ` To start again, ${inertSentence(again)}.`}`;
}

/** What to do about the pull request that was opened, or that GitHub refused; empty if none was to be opened. */
function pulledText(view: RunView, diffs: Diffs): string {
  const { outcome } = view;
  const chosen = chosenOf(view);
  if (outcome?.kind === 'pull') {
    const pull = `the draft pull request ${link(`#${outcome.number}`, outcome.url)}`;
    return chosen === null
      ? `**Next:** close ${pull}, or choose a candidate for it with \`/auto-dev pick ${pickable(view)[0] ?? 'A'}\`.`
      : `**Next:** review ${pull}. To switch to another candidate, comment \`/auto-dev pick\` with its letter.`;
  }
  const unopened = unopenedText(view, chosen === null ? undefined : diffs[chosen]?.compareUrl);
  return unopened === '' ? '' : `**Next:** ${unopened}`;
}

/**
 * The table for an issue whose run ended without a pull request: no candidate was good enough, or GitHub rejected the
 * pull request (`outcome.refusedBecause`). It says so too if a later pick opens one. One to five comments.
 */
export function outcomeComment(view: RunView, diffs: Diffs): ReportComments {
  const none = `No pull request was opened. **Next:** ${inertSentence(noSurvivorAdvice(view), 600)}`;
  return comparisonIn('outcome', view, diffs, {
    head: decisionSection(view),
    next: [pulledText(view, diffs) || none],
    everyone: true,
  });
}
